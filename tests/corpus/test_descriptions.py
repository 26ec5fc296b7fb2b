"""Package descriptions."""

from __future__ import annotations

from dragoman.corpus.blocks import Block
from dragoman.corpus.descriptions import align_descriptions, blocks, read_descriptions
from dragoman.corpus.pair import Pair

ENGLISH = """\
Package: libhello1
Description-md5: 11
Description-en: friendly library
 It greets people
 in a friendly way.
 .
 Features:
  * small
  * fast, also on
    old machines
 .
   verbatim

Package: hello
Description-md5: 22
Description-en: changed since
"""
GERMAN = """\
Package: libhello1
Description-md5: 11
Description-de: freundliche Bibliothek
 Sie grüßt\u22c5Leute
 freundlicherweise.
 .
 Merkmale:
  * klein
  * schnell, auch auf alten Rechnern
 .
   wörtlich

Package: hello
Description-md5: 33
Description-de: alter Text
"""


def test_texts_are_aligned_by_package_and_hash() -> None:
    found = read_descriptions(
        ENGLISH.splitlines(), GERMAN.splitlines(), {"libhello1": "hello"}, "Translation-de"
    )
    texts = [
        ("friendly library", "freundliche Bibliothek"),
        ("It greets people in a friendly way.", "Sie grüßt Leute freundlicherweise."),
        ("Features:", "Merkmale:"),
        ("small", "klein"),
        ("fast, also on old machines", "schnell, auch auf alten Rechnern"),
    ]
    assert list(found) == [
        Pair(source, target, "descriptions", "descriptions:hello", ("Translation-de",))
        for source, target in texts
    ]


def test_only_the_synopsis_is_left_of_other_structures() -> None:
    assert align_descriptions("a\nb\n.\nc", "x\ny") == [("a", "x")]
    assert align_descriptions("a\n * b", "x\ny") == [("a", "x")]


def test_compounds_are_joined_at_their_hyphens() -> None:
    lines = ["der Unix-", "FTP-Client, Ein-", "und Ausgabe, a -", "b"]
    assert blocks(lines) == [
        Block("paragraph", "der Unix-FTP-Client, Ein- und Ausgabe, a - b"),
    ]
