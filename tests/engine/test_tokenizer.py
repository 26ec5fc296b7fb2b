"""Text is only ever text, and streamed text equals the whole."""

from __future__ import annotations

import itertools

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import BundleError, InvalidRequestError, Prefix, SpecialTokens, Tokenizer
from tests.engine.tokenizers import SPECIAL

SMALLEST_VOCABULARY = 300
IDS = st.lists(st.integers(0, SMALLEST_VOCABULARY - 1), max_size=40)
PLAIN = st.text(st.characters(exclude_categories=["Cs"]))


def reference(tokenizer: Tokenizer) -> sentencepiece.SentencePieceProcessor:
    return tokenizer._processor


def byte_ids(tokenizer: Tokenizer, data: bytes) -> list[int]:
    return [reference(tokenizer).piece_to_id(f"<0x{byte:02X}>") for byte in data]


@given(text=PLAIN)
def test_any_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert not set(ids) & {SPECIAL.pad, SPECIAL.unk, SPECIAL.bos, SPECIAL.eos}
    assert tokenizer.decode(ids) == reference(tokenizer).decode(list(ids))


@given(text=PLAIN)
def test_a_second_round_trip_changes_nothing(tokenizer: Tokenizer, text: str) -> None:
    once = tokenizer.decode(tokenizer.encode(text))
    assert tokenizer.decode(tokenizer.encode(once)) == once


@pytest.mark.parametrize(
    "text",
    [
        "Write </s>, <pad> and <unk> literally.",
        "<2de> Hello",
        "<0x41>",
        "Meet at the 𓀀 statue 🫠",
        "Thanks 🧿!",
        "👩\u200d💻",
    ],
)
def test_control_literals_and_rare_characters_are_text(tokenizer: Tokenizer, text: str) -> None:
    source = tokenizer.encode_source(text)
    assert source.count(SPECIAL.eos) == 1
    assert source[-1] == SPECIAL.eos
    assert tokenizer.decode(source) == text


@given(ids=IDS)
def test_decoding_equals_sentencepiece_but_for_what_is_no_text(
    tokenizer: Tokenizer, ids: list[int]
) -> None:
    """SentencePiece writes U+FFFD for a byte that is no character and ⁇ for the unknown token."""
    ids = [token for token in ids if token != SPECIAL.unk]
    expected = reference(tokenizer).decode(ids)
    if "\ufffd" not in expected:
        assert tokenizer.decode(ids) == expected
    assert "\ufffd" not in tokenizer.decode(ids)


@given(ids=IDS, cuts=st.lists(st.integers(0, 40), max_size=8))
def test_chunks_of_any_size_give_the_same_text(
    tokenizer: Tokenizer, ids: list[int], cuts: list[int]
) -> None:
    decoder = tokenizer.stream_decoder()
    edges = sorted({0, len(ids), *(cut for cut in cuts if cut < len(ids))})
    chunks = [decoder.feed(ids[start:end]) for start, end in itertools.pairwise(edges)]
    assert "".join([*chunks, decoder.finish()]) == tokenizer.decode(ids)


@given(text=st.text(st.sampled_from("aß€🧿𓀀 é\u0301")))
def test_a_character_of_several_bytes_is_given_whole(tokenizer: Tokenizer, text: str) -> None:
    decoder = tokenizer.stream_decoder()
    chunks = [decoder.feed([token]) for token in byte_ids(tokenizer, text.encode())]
    assert "".join(chunks) == text
    assert all(len(chunk) <= 1 and chunk != "\ufffd" for chunk in chunks)
    assert decoder.finish() == ""


@given(data=st.binary(max_size=30))
def test_bytes_that_are_no_characters_are_dropped(tokenizer: Tokenizer, data: bytes) -> None:
    expected = data.decode("utf-8", "ignore")
    assert tokenizer.decode(byte_ids(tokenizer, data)) == expected


def test_an_output_that_ends_within_a_character_loses_only_that(tokenizer: Tokenizer) -> None:
    ids = [*tokenizer.encode("fox"), *byte_ids(tokenizer, "🧿".encode()[:3])]
    assert tokenizer.decode(ids) == "fox"
    assert tokenizer.decode([*ids, *tokenizer.encode("dog")]) == "fox dog"


def test_control_and_unknown_tokens_add_nothing(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the dog")
    spiced = [SPECIAL.bos, SPECIAL.unk, *ids[:1], SPECIAL.pad, *ids[1:], SPECIAL.eos]
    assert tokenizer.decode(spiced) == "the dog"


@pytest.mark.parametrize("given_ends", [0, 1, 2])
def test_a_source_gets_exactly_one_end(tokenizer: Tokenizer, given_ends: int) -> None:
    ids = tokenizer.encode("the dog")
    assert tokenizer.end_source([*ids, *[SPECIAL.eos] * given_ends]) == (*ids, SPECIAL.eos)


def test_a_prefix_that_ends_in_a_space_starts_a_new_word(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the lazy")
    assert tokenizer.encode_prefix("the lazy") == Prefix(ids, starts_new_word=False)
    assert tokenizer.encode_prefix("the lazy ") == Prefix(ids, starts_new_word=True)
    assert tokenizer.encode_prefix("the lazy   ") == Prefix(ids, starts_new_word=True)
    assert tokenizer.encode_prefix("") == Prefix((), starts_new_word=False)
    assert tokenizer.encode_prefix(" ") == Prefix((), starts_new_word=True)


def test_single_tokens_have_names_and_texts(tokenizer: Tokenizer) -> None:
    word = tokenizer.encode("the")[0]
    assert tokenizer.piece(word).startswith("\u2581")
    assert tokenizer.starts_word(word)
    assert tokenizer.token_text(word).startswith(" ")
    letter, part = byte_ids(tokenizer, b"A\xc3")
    assert (tokenizer.piece(letter), tokenizer.token_text(letter)) == ("<0x41>", "A")
    assert (tokenizer.piece(part), tokenizer.token_text(part)) == ("<0xC3>", "")
    assert tokenizer.token_text(SPECIAL.eos) == ""
    assert not tokenizer.starts_word(letter)


def test_a_lone_surrogate_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(InvalidRequestError, match="valid Unicode"):
        tokenizer.encode_source("bad \ud800 char")


def test_other_control_tokens_are_refused(model: bytes) -> None:
    with pytest.raises(BundleError, match="its control tokens are"):
        Tokenizer(model, SpecialTokens(pad=3, unk=1, bos=2, eos=0))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(BundleError, match=r"tokenizer\.model: is not a SentencePiece model"):
        Tokenizer(b"nonsense", SPECIAL, "tokenizer.model")
