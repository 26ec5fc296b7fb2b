"""How languages are spelt."""

from __future__ import annotations

import pytest

from dragoman.corpus.errors import RecipeError
from dragoman.corpus.locales import Locale, parse_pair
from dragoman.corpus.places import Place, Places


def test_pairs() -> None:
    assert parse_pair("en-de") == (Locale("en"), Locale("de"))
    assert parse_pair("en-pt-BR")[1].name == "pt_BR"
    assert parse_pair("en-zh-Hant")[1].name == "zh_Hant"


@pytest.mark.parametrize("text", ["", "en", "de-en", "en-en", "en-DE", "en_de", "en-de-", "x-y"])
def test_other_words_are_refused_by_name(text: str) -> None:
    with pytest.raises(RecipeError, match="pair: "):
        parse_pair(text)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("usr/share/locale/de/LC_MESSAGES/tar.mo", "gettext"),
        ("usr/share/locale/de_DE/LC_MESSAGES/tar.mo", "gettext"),
        ("usr/lib/python3/x/locale/de/LC_MESSAGES/django.po", "gettext"),
        ("usr/share/games/supertux2/locale/de.po", "gettext"),
        ("usr/share/locale/de_AT/LC_MESSAGES/tar.mo", None),
        ("usr/share/locale/nds/LC_MESSAGES/tar.mo", None),
        ("usr/share/locale/de/LC_MESSAGES/tar.txt", None),
        ("usr/share/x/mode.po", None),
    ],
)
def test_catalogues(path: str, place: str | None) -> None:
    found = Places(Locale("de")).find(path)
    assert (found.origin if found else None) == place


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("usr/share/man/de/man1/ls.1.gz", Place("man", "man1/ls.1", False)),
        ("usr/share/man/man1/ls.1.gz", Place("man", "man1/ls.1", True)),
        ("usr/share/man/fr/man1/ls.1.gz", None),
        ("usr/share/man/man1/ls.1", None),
        ("usr/share/help/de/a/i.page", Place("help", "usr/share/help/*/a/i.page", False)),
        ("usr/share/help/C/a/i.page", Place("help", "usr/share/help/*/a/i.page", True)),
        ("usr/share/doc/x/en-US/a.html", Place("help", "usr/share/doc/x/*/a.html", True)),
        ("usr/share/doc/x/a.html", None),
    ],
)
def test_pages(path: str, place: Place | None) -> None:
    assert Places(Locale("de")).find(path) == place


def test_a_region_has_its_own_folders() -> None:
    places = Places(Locale("pt-BR"))
    assert places.find("usr/share/locale/pt_BR/LC_MESSAGES/a.mo")
    assert not places.find("usr/share/locale/pt/LC_MESSAGES/a.mo")
    assert places.find("usr/share/libreoffice/help/pt-BR/a.html")
