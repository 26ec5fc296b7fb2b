from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.training.tokenizer import EOS_ID, load_tokenizer
from dragoman.transformer import ConfigError


@pytest.fixture(scope="module")
def processor(tiny_checkpoint: Path) -> sentencepiece.SentencePieceProcessor:
    return load_tokenizer(tiny_checkpoint / "tokenizer.model", 400)


def test_special_ids(processor: sentencepiece.SentencePieceProcessor) -> None:
    assert [processor.id_to_piece(i) for i in range(4)] == ["<pad>", "<unk>", "<s>", "</s>"]


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0▁")))
@settings(deadline=None)
def test_any_text_comes_back_unchanged(
    processor: sentencepiece.SentencePieceProcessor, text: str
) -> None:
    # Identity normalisation and byte fallback: nothing is folded, dropped or unknown.
    ids = processor.encode(text)
    assert 1 not in ids
    assert processor.decode(ids) == text


@pytest.mark.parametrize("literal", ["</s>", "<pad>", "<unk>", "<s>", "<0x41>"])
def test_control_literals_are_plain_text(
    processor: sentencepiece.SentencePieceProcessor, literal: str
) -> None:
    ids = processor.encode(f"Write {literal} literally.")
    assert not set(ids) & {0, 1, 2, EOS_ID}
    assert processor.decode(ids) == f"Write {literal} literally."


def test_digits_stand_alone(processor: sentencepiece.SentencePieceProcessor) -> None:
    # Without digits in its vocabulary each one is a byte; none is ever joined with another.
    pieces = processor.encode("421 19", out_type=str)
    assert [piece for piece in pieces if piece != "▁"] == [f"<0x3{digit}>" for digit in "42119"]


def test_another_size_is_refused(tiny_checkpoint: Path) -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.model has 400 pieces, the model has 403"):
        load_tokenizer(tiny_checkpoint / "tokenizer.model", 403)
