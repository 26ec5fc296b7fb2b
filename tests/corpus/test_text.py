"""Making texts plain, and parting them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.cleaning import clean
from dragoman.corpus.pair import Pair
from dragoman.corpus.sentences import sentences, split_pair
from dragoman.corpus.text import normal, parts, unwrapped, without_entities, without_layout


def cleaned(source: str, target: str, origin: str = "gettext") -> list[tuple[str, str]]:
    return [(p.source, p.target) for p in clean(Pair(source, target, origin, "d", ("p",)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a \t b\n c\u00a0d ", "a b c d"),
        ("so\u00adft \u200bzero \ufeff\x07", "soft zero"),
        ("u\u0308ber", "über"),
        ("نمی\u200cشود", "نمی\u200cشود"),
        ("", ""),
    ],
)
def test_normal(text: str, expected: str) -> None:
    assert normal(text) == expected


@given(st.text())
def test_normal_texts_stay_as_they_are(text: str) -> None:
    once = normal(text)
    assert normal(once) == once
    assert once == unicodedata.normalize("NFC", once)
    assert once == once.strip()
    assert not set(once) & set("\t\r\n\x00")


def test_entities_are_resolved_on_both_sides() -> None:
    assert without_entities("a &lt; b", "a &#60; b") == ("a < b", "a < b")
    assert without_entities("R&D; x", "F&E") == ("R&D; x", "F&E")


def test_layout_becomes_paragraphs_and_wrappers_go() -> None:
    assert without_layout("<qt><p>One.</p><p>Two<br/>three</p></qt>") == "One.\n\nTwo\n\nthree"
    assert without_layout("a < b and <b>bold</b>") == "a < b and <b>bold</b>"
    assert unwrapped('<b><i class="x">Open</i></b>') == '<b><i class="x">Open</i></b>'
    assert unwrapped("<b>Open</b>") == "Open"
    assert unwrapped("<b>Open</b> it") == "<b>Open</b> it"


def test_parts() -> None:
    assert parts("one\ntwo\n\nthree\n  -a  all\n- item\n* item\n") == [
        "one\ntwo",
        "three",
        " -a  all".replace(" -", "  -", 1),
        "- item",
        "* item\n",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Use e.g. This, z. B. Das, etc. Now", ["Use e.g. This, z. B. Das, etc. Now"]),
        ("Am 3. Mai 1990. Danach", ["Am 3. Mai 1990. Danach"]),
        ("See J. Smith. then", ["See J. Smith. then"]),
        ('He said "No." Then left.', ['He said "No."', "Then left."]),
        ("(Yes.) „Nein.“ »Doch«", ["(Yes.)", "„Nein.“", "»Doch«"]),
        ("Version 1.2 is out. It works.", ["Version 1.2 is out.", "It works."]),
        ("¿Sí? ¡No!", ["¿Sí?", "¡No!"]),
        ("これは本です。「はい。」次", ["これは本です。", "「はい。」", "次"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text())
def test_sentences_lose_nothing_but_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_pairs_are_split_only_into_as_many_sentences() -> None:
    assert split_pair("One. Two.", "Eins. Zwei.") == [("One.", "Eins."), ("Two.", "Zwei.")]
    assert split_pair("One. Two.", "Eins, zwei.") == [("One. Two.", "Eins, zwei.")]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("_Open\u2026", "Ö_ffnen\u2026", [("Open\u2026", "Öffnen\u2026")]),
        ("A.\n\nB.", "X.\n\nY.", [("A.", "X."), ("B.", "Y.")]),
        ("A.\n\nB b", "X y", [("A. B b", "X y")]),
        ("<b>A &amp; b.</b> C", "<b>X &amp; y.</b> Z", [("<b>A & b.</b> C", "<b>X & y.</b> Z")]),
        ("- one\n- two", "- eins\n- zwei", [("one", "eins"), ("two", "zwei")]),
        ("3.1. Start", "3.1. Anfang", [("Start", "Anfang")]),
        ("3.1. Start", "3.2. Anfang", [("3.1. Start", "3.2. Anfang")]),
        ("<p><b>One</b></p><p>Two</p>", "<p><b>Eins</b></p><p>Zwei</p>",
         [("One", "Eins"), ("Two", "Zwei")]),
    ],
)  # fmt: skip
def test_clean(source: str, target: str, expected: list[tuple[str, str]]) -> None:
    assert cleaned(source, target) == expected


def test_only_interfaces_have_accelerators() -> None:
    assert cleaned("_Open", "_Öffnen", "man") == [("_Open", "_Öffnen")]
    assert cleaned("_Open", "_Öffnen", "games") == [("Open", "Öffnen")]


@given(st.text(), st.text(), st.sampled_from(["gettext", "man"]))
def test_any_texts_are_cleaned_into_one_line_each(source: str, target: str, origin: str) -> None:
    for left, right in cleaned(source, target, origin):
        assert left == normal(left)
        assert right == normal(right)
