from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import Engine, EngineLimits, Tokenizer
from dragoman.server.errors import InvalidFieldError
from dragoman.server.fields import FieldReader, check_count, require_single_line
from dragoman.v1 import translation_pb2

LIMIT = 16


@pytest.fixture(scope="module")
def tokenizer(tiny_bundle: Path) -> Tokenizer:
    return Engine.load(tiny_bundle).tokenizer


@pytest.fixture(scope="module")
def fields(tokenizer: Tokenizer) -> FieldReader:
    limits = EngineLimits(
        max_source_tokens=LIMIT,
        max_target_tokens=LIMIT,
        max_rows=4,
        vocabulary_size=tokenizer.size,
    )
    return FieldReader(tokenizer, limits, max_text_bytes=1000)


@pytest.fixture(scope="module")
def words(tokenizer: Tokenizer) -> dict[int, str]:
    """Texts by how many source tokens they have."""
    texts = {}
    text = ""
    for _ in range(4 * LIMIT):
        text += " one"
        texts[len(tokenizer.encode_source(text.strip()))] = text.strip()
    return texts


def test_every_line_gets_its_tokens(fields: FieldReader, tokenizer: Tokenizer) -> None:
    split, sources = fields.lines("content", "one\n\n  two ")
    assert split.bodies == ("one", "two")
    assert sources == [tokenizer.encode_source("one"), tokenizer.encode_source("two")]


def test_the_limit_counts_the_end_of_sentence(fields: FieldReader, words: dict[int, str]) -> None:
    for count, text in words.items():
        if count <= LIMIT:
            assert len(fields.lines("content", text)[1][0]) == count
        else:
            with pytest.raises(InvalidFieldError, match=f"content is {count} tokens long"):
                fields.lines("content", text)


def test_the_line_that_is_too_long_is_named(fields: FieldReader) -> None:
    with pytest.raises(InvalidFieldError) as caught:
        fields.lines("contents[3]", "one\r\n\n\x85two\n" + "one " * 3 * LIMIT)
    assert caught.value.field == "contents[3]"
    assert "in line 5" in caught.value.value
    assert f"at most {LIMIT} tokens" in caught.value.bound


def test_what_cannot_fit_is_refused_without_the_tokenizer(fields: FieldReader) -> None:
    with pytest.raises(InvalidFieldError, match="900 characters long"):
        fields.lines("content", "x" * 900)


def test_spaces_do_not_count_as_characters(fields: FieldReader) -> None:
    with pytest.raises(InvalidFieldError, match="tokens long"):
        fields.lines("content", "one" + " " * 900 + "one " * LIMIT)


def test_bytes_are_counted_not_characters(fields: FieldReader) -> None:
    fields.lines("content", "\n" * 1000)
    with pytest.raises(InvalidFieldError, match="1002 bytes long; it must be at most 1000"):
        fields.lines("content", "\n" * 1000 + "ü")


@given(st.text(max_size=60))
def test_nothing_of_a_text_is_lost(fields: FieldReader, text: str) -> None:
    try:
        split, sources = fields.lines("content", text)
    except InvalidFieldError:
        return
    assert split.join(split.bodies) == text
    assert len(split.bodies) == len(sources)
    assert all(2 <= len(ids) <= LIMIT for ids in sources)


@pytest.mark.parametrize("text", ["", "  ", "\n", "one\ntwo", "\none", "one\n\n"])
def test_a_sentence_is_one_line(fields: FieldReader, text: str) -> None:
    with pytest.raises(InvalidFieldError, match="a single line that is not blank"):
        fields.sentence("text", text)


def test_spaces_and_a_line_end_around_a_sentence_do_not_matter(
    fields: FieldReader, tokenizer: Tokenizer
) -> None:
    assert fields.sentence("text", " one two \n") == tokenizer.encode_source("one two")


def test_source_ids_end_once(fields: FieldReader, tokenizer: Tokenizer) -> None:
    eos = tokenizer.special.eos
    for ids in ([10, 11], [10, 11, eos], [10, 11, eos, eos]):
        assert fields.source_ids("ids", ids) == (10, 11, eos)


@pytest.mark.parametrize(
    ("ids", "field", "value"),
    [
        ([], "ids", "1 tokens"),
        ([3], "ids", "1 tokens"),
        ([10, -1], "ids[1]", "-1"),
        ([10**6, 10], "ids[0]", "1000000"),
        ([10, 3, 10], "ids[1]", "3 (</s>)"),
        ([10, 2], "ids[1]", "2 (<s>)"),
        ([0, 10], "ids[0]", "0 (<pad>)"),
        ([10] * LIMIT, "ids", f"{LIMIT + 1} tokens"),
    ],
)
def test_source_ids_out_of_bounds(
    fields: FieldReader, ids: list[int], field: str, value: str
) -> None:
    with pytest.raises(InvalidFieldError) as caught:
        fields.source_ids("ids", ids)
    assert (caught.value.field, caught.value.value) == (field, value)


def test_prefixes_by_text_and_by_tokens(fields: FieldReader, tokenizer: Tokenizer) -> None:
    open_word = fields.prefix("p", translation_pb2.TargetPrefix(text="ein"))
    assert open_word == tokenizer.encode_prefix("ein")
    assert not open_word.starts_new_word
    assert fields.prefix("p", translation_pb2.TargetPrefix(text="ein ")).starts_new_word
    assert fields.prefix("p", translation_pb2.TargetPrefix()).ids == ()
    ids = translation_pb2.TokenIds(ids=[10, 11])
    assert fields.prefix("p", translation_pb2.TargetPrefix(token_ids=ids)).ids == (10, 11)


@pytest.mark.parametrize(
    ("prefix", "field"),
    [
        (translation_pb2.TargetPrefix(text="a\nb"), "p.text"),
        (translation_pb2.TargetPrefix(text="a\n"), "p.text"),
        (translation_pb2.TargetPrefix(text="ein " * 2 * LIMIT), "p.text"),
        (
            translation_pb2.TargetPrefix(token_ids=translation_pb2.TokenIds(ids=[10, 3])),
            "p.token_ids.ids[1]",
        ),
        (
            translation_pb2.TargetPrefix(token_ids=translation_pb2.TokenIds(ids=[10] * LIMIT)),
            "p.token_ids.ids",
        ),
    ],
)
def test_prefixes_out_of_bounds(
    fields: FieldReader, prefix: translation_pb2.TargetPrefix, field: str
) -> None:
    with pytest.raises(InvalidFieldError) as caught:
        fields.prefix("p", prefix)
    assert caught.value.field == field


def test_counts() -> None:
    check_count("contents", [1], 1, 2)
    with pytest.raises(InvalidFieldError, match="contents is 3 items; it must be 1 to 2 items"):
        check_count("contents", [1, 2, 3], 1, 2)


def test_single_lines(fields: FieldReader) -> None:
    require_single_line("content", fields.lines("content", " one ")[0])
    with pytest.raises(InvalidFieldError, match="content is 2 lines"):
        require_single_line("content", fields.lines("content", "one\n two")[0])
    with pytest.raises(InvalidFieldError, match="content is blank"):
        require_single_line("content", fields.lines("content", " ")[0])
