"""The format of control files and indexes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.deb822 import paragraphs

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,8}", fullmatch=True)
VALUES = st.lists(
    st.from_regex(r"[a-zäß][a-zäß .:]{0,9}[a-z]", fullmatch=True), min_size=1, max_size=3
)
FIELDS = st.dictionaries(NAMES.map(str.lower), VALUES, min_size=1, max_size=4)


def test_fields_continuations_comments() -> None:
    text = "Package: a\nDescription: short\n long\n  verbatim\n .\n end\n# no\nnothing\n\n\nX: 1\n"
    assert list(paragraphs(text.splitlines())) == [
        {"package": "a", "description": "short\nlong\n verbatim\n.\nend"},
        {"x": "1"},
    ]


def test_lines_before_any_field_are_left_out() -> None:
    assert list(paragraphs([" lost", "", "A: b"])) == [{"a": "b"}]
    assert list(paragraphs([])) == []


@given(st.lists(FIELDS, max_size=4))
def test_what_is_written_is_read(expected: list[dict[str, list[str]]]) -> None:
    text = "\n".join(
        "".join(f"{name.title()}: " + "\n ".join(lines) + "\n" for name, lines in fields.items())
        for fields in expected
    )
    found = list(paragraphs(text.splitlines(keepends=True)))
    assert found == [{k: "\n".join(v) for k, v in fields.items()} for fields in expected]
