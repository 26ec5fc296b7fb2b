"""Fields of the manifest are read with errors that name them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.engine import BundleError
from dragoman.engine.manifest import Fields

VALUES = {
    "name": "en-de",
    "empty": "",
    "size": 8,
    "zero": 0,
    "negative": -1,
    "yes": True,
    "half": 0.5,
    "inner": {"size": "8"},
    "list": [1],
}
FIELDS = Fields("bundle.json", VALUES)


def test_values_of_the_right_kind_are_given() -> None:
    assert FIELDS.text("name") == "en-de"
    assert FIELDS.choice("name", ("de-en", "en-de")) == "en-de"
    assert FIELDS.optional_choice("name", ("de-en", "en-de")) == "en-de"
    assert FIELDS.optional_choice("missing", ("de-en", "en-de")) == "de-en"
    assert FIELDS.integer("zero") == 0
    assert FIELDS.count("size") == 8
    assert FIELDS.group("inner").text("size") == "8"
    assert FIELDS.array("list") == [1]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: FIELDS.text("missing"), "bundle.json: missing is missing"),
        (lambda: FIELDS.text("empty"), "empty is ''; it must be a string that is not empty"),
        (
            lambda: FIELDS.optional_choice("name", ("x", "y")),
            "name is 'en-de'; it must be one of x, y",
        ),
        (lambda: FIELDS.text("size"), "size is 8; it must be a string"),
        (lambda: FIELDS.choice("name", ("a", "b")), "name is 'en-de'; it must be one of a, b"),
        (lambda: FIELDS.integer("negative"), "negative is -1; it must be an integer from 0 on"),
        (lambda: FIELDS.integer("yes"), "yes is True; it must be an integer"),
        (lambda: FIELDS.integer("half"), r"half is 0\.5; it must be an integer"),
        (lambda: FIELDS.count("zero"), "zero is 0; it must be an integer from 1 on"),
        (lambda: FIELDS.group("list"), r"list is \[1\]; it must be an object"),
        (lambda: FIELDS.array("inner"), "inner is .*; it must be an array"),
        (lambda: FIELDS.group("inner").count("size"), r"inner\.size is '8'; it must be an integer"),
        (lambda: FIELDS.group("inner").count("other"), r"inner\.other is missing"),
    ],
)
def test_other_values_are_refused_by_name(read: Callable[[], object], message: str) -> None:
    with pytest.raises(BundleError, match=message):
        read()
