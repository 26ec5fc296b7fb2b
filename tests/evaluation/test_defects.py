"""Copies, loops and empty outputs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.evaluation.defects import (
    LONGEST_UNIT,
    is_copy,
    is_empty,
    is_loop,
    letter_repeats,
    repeats,
    word_repeats,
)


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Open", "Open", True),
        ("Open", " Open\n", True),
        ("Open", "open", False),
        ("Open", "Öffnen", False),
        ("1 + 2", "1 + 2", False),
        ("…", "…", False),
        ("ж", "ж", True),
    ],
)
def test_a_copy_has_letters(source: str, output: str, expected: bool) -> None:
    assert is_copy(source, output) is expected


def test_white_space_is_nothing() -> None:
    assert is_empty("")
    assert is_empty(" \n\u00a0")
    assert not is_empty(".")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("...", 0),
        ("one", 1),
        ("one two one two", 2),
        ("der der Der", 3),
        ("in der, in der, in der Datei", 3),
        ("a b c d e f g h a b c d e f g h a b c d e f g h", 3),
        ("a b c d e f g h i a b c d e f g h i a b c d e f g h i", 1),
        ("one two one two one", 2),
    ],
)
def test_word_repeats(text: str, expected: int) -> None:
    assert word_repeats(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("12 34", 0), ("Haus", 1), ("Nooooo", 5), ("unununununun", 6), ("1000000", 0)],
)
def test_letter_repeats(text: str, expected: int) -> None:
    assert letter_repeats(text) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Open the file", "Datei Datei Datei", True),
        ("Open the file", "die Datei, die Datei, die Datei", True),
        ("Open the file", "Datei, Datei", False),
        ("Open the file", "Dateieieieieiei", True),
        ("Very, very, very good", "Sehr, sehr, sehr gut", False),
        ("Very, very, very good", "Sehr, sehr, sehr, sehr gut", True),
        ("Noooooo!", "Neiiiiin!", False),
        ("No!", "Neiiiiin!", True),
        ("- - - -", "- - - -", False),
        ("0.0.0.0", "0.0.0.0", False),
    ],
)
def test_a_loop_repeats_more_than_its_source(source: str, output: str, expected: bool) -> None:
    assert is_loop(source, output) is expected


@given(
    unit=st.lists(st.integers(), min_size=1, max_size=LONGEST_UNIT, unique=True),
    times=st.integers(1, 6),
)
def test_repeats_counts_a_unit(unit: list[int], times: int) -> None:
    assert repeats([str(part) for part in unit * times]) == times


@given(st.lists(st.text(), unique=True))
def test_different_units_do_not_repeat(units: list[str]) -> None:
    assert repeats(units) == min(1, len(units))


@given(st.text())
def test_nothing_loops_more_than_itself(text: str) -> None:
    assert not is_loop(text, text)
