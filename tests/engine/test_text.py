"""Splitting a text loses nothing, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import InvalidRequestError, split_text

SPACES = [" ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\u00a0"]
TEXTS = st.lists(st.one_of(st.text(), st.sampled_from(SPACES))).map("".join)


@given(TEXTS)
def test_joining_the_bodies_again_gives_the_text(text: str) -> None:
    split = split_text(text)
    assert split.join(split.bodies) == text


@given(TEXTS)
def test_there_is_one_body_per_line_that_is_not_blank(text: str) -> None:
    assert list(split_text(text).bodies) == [
        line.strip() for line in text.splitlines() if line.strip()
    ]


@given(TEXTS)
def test_separators_are_blank(text: str) -> None:
    split = split_text(text)
    assert len(split.separators) == len(split.bodies) + 1
    assert not "".join(split.separators).strip()


@pytest.mark.parametrize("text", ["", " ", "\n", "   ", "\t\r\n \u2028"])
def test_a_blank_text_has_no_bodies(text: str) -> None:
    assert split_text(text).bodies == ()
    assert split_text(text).join([]) == text


def test_newlines_lists_and_outer_spaces_are_kept() -> None:
    split = split_text("  First line.\r\n\r\n- one\n\t- two \n")
    assert split.bodies == ("First line.", "- one", "- two")
    assert split.join(["Erste Zeile.", "- eins", "- zwei"]) == (
        "  Erste Zeile.\r\n\r\n- eins\n\t- zwei \n"
    )


def test_inner_spaces_stay_in_the_body() -> None:
    assert split_text("One.  Two.\tThree.").bodies == ("One.  Two.\tThree.",)


def test_as_many_bodies_must_come_back() -> None:
    with pytest.raises(InvalidRequestError, match="bodies is 1; it must be 2 of them"):
        split_text("a\nb").join(["c"])
