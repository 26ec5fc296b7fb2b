from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import Engine, Tokenizer
from dragoman.server.terms import SourceTerm, read_terms, spellings
from dragoman.v1 import translation_pb2


@pytest.fixture(scope="module")
def tokenizer(tiny_bundle: Path) -> Tokenizer:
    return Engine.load(tiny_bundle).tokenizer


def read(tokenizer: Tokenizer, source: str, *targets: str, match_case: bool = False) -> SourceTerm:
    message = translation_pb2.Term(source=source, targets=targets, match_case=match_case)
    (term,) = read_terms("terms", [message], tokenizer)
    return term


@pytest.mark.parametrize(
    ("source", "line", "found"),
    [
        ("file", "Open the file.", True),
        ("file", "Open the FILE", True),
        ("file", "Profile, files, file_1, file2", False),
        ("file", "(file)-based", True),
        ("disk  drive", "the Disk\tdrive is full", True),
        ("C++", "In C++, all", True),
        ("C++", "C++11", False),
        (".*", "one", False),
        ("Öl", "kein öl da", True),
        ("Öl", "Kohlöl", False),
    ],
)
def test_a_source_is_found_as_whole_words(
    tokenizer: Tokenizer, source: str, line: str, found: bool
) -> None:
    assert read(tokenizer, source, "x").applies(line) is found


def test_case_matters_on_request(tokenizer: Tokenizer) -> None:
    term = read(tokenizer, "File", "x", match_case=True)
    assert term.applies("The File")
    assert not term.applies("the file")


def test_a_target_is_spelt_with_and_without_the_beginning_of_a_word(tokenizer: Tokenizer) -> None:
    start, inside = spellings("sieben", tokenizer)
    assert tokenizer.piece(start[0]).startswith("\u2581")
    assert not tokenizer.piece(inside[0]).startswith("\u2581")
    assert tokenizer.decode(start) == "sieben"
    assert "".join(map(tokenizer.piece, inside)) == "sieben"


@given(st.text(min_size=1, max_size=12).filter(lambda text: text.strip()))
def test_each_spelling_is_the_target(tokenizer: Tokenizer, text: str) -> None:
    target = " ".join(text.split())
    expected = tokenizer.decode(tokenizer.encode(target))
    marker = tokenizer.encode_prefix("a").ids
    for ids in spellings(target, tokenizer):
        assert ids
        assert expected.strip() in tokenizer.decode((*marker, *ids))


def test_all_wordings_are_spellings_of_one_term(tokenizer: Tokenizer) -> None:
    term = read(tokenizer, "a", "sieben", "acht", "sieben")
    expected = spellings("sieben", tokenizer) + spellings("acht", tokenizer)
    assert term.term.target_ids == expected
    assert term.term.hard
    assert term.met("das sind acht.")
    assert not term.met("das sind neun.")
