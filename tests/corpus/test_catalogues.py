"""gettext catalogues."""

from __future__ import annotations

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.catalogues import NO_TEXTS, read_catalogue, without_context
from tests.corpus.packages import messages, mo

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\x04|^_"), min_size=1)
PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "Open"
msgstr "Öffnen"

#, fuzzy
msgid "Close"
msgstr "Schließen"

msgid "Save"
msgstr ""

#~ msgid "Old"
#~ msgstr "Alt"
"""


def test_po_leaves_out_fuzzy_untranslated_and_obsolete() -> None:
    assert read_catalogue("x/de.po", PO.encode()) == [("Open", "Öffnen")]


def test_mo_with_context_plurals_and_credits() -> None:
    content = mo(
        polib.MOEntry(msgid="Open", msgstr="Öffnen", msgctxt="menu"),
        polib.MOEntry(msgid="translator-credits", msgstr="Ich"),
        polib.MOEntry(
            msgid="%d file", msgid_plural="%d files", msgstr_plural={0: "%d Datei", 1: "%d Dateien"}
        ),
    )
    found = read_catalogue("x.mo", content)
    assert found is not None
    assert sorted(found) == [
        ("%d file", "%d Datei"),
        ("%d files", "%d Dateien"),
        ("Open", "Öffnen"),
    ]


@pytest.mark.parametrize(
    ("rule", "forms", "expected"),
    [
        ("nplurals=1; plural=0;", ["%d ファイル"], [("%d files", "%d ファイル")]),
        (
            "nplurals=3; plural=(n%10==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);",
            ["%d файл", "%d файла", "%d файлов"],
            [("%d file", "%d файл"), ("%d files", "%d файлов")],
        ),
        (
            "nplurals=2; plural=(n > 1);",
            ["%d fichier", "%d fichiers"],
            [("%d file", "%d fichier"), ("%d files", "%d fichiers")],
        ),
        ("nonsense", ["eins", "viele"], [("%d file", "eins"), ("%d files", "viele")]),
        ("nplurals=2; plural=import;", ["a", "b"], [("%d file", "a"), ("%d files", "b")]),
        ("nplurals=2; plural=n != 1;", ["", "b"], [("%d files", "b")]),
    ],
)
def test_plural_forms(rule: str, forms: list[str], expected: list[tuple[str, str]]) -> None:
    entry = polib.MOEntry(
        msgid="%d file", msgid_plural="%d files", msgstr_plural=dict(enumerate(forms))
    )
    assert read_catalogue("x.mo", mo(entry, Plural_Forms=rule)) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Stock label|_Open", "Ö_ffnen", "_Open"),
        ("addon_type^Campaign", "Kampagne", "Campaign"),
        ("_: NAME OF TRANSLATORS\nYour names", "Ich", "Your names"),
        ("a|b", "x|y", "a|b"),
        ("2^10", "2^10", "2^10"),
        ("File | Open", "Datei öffnen", "File | Open"),
        ("Open", "Öffnen", "Open"),
    ],
)
def test_contexts_inside_messages_are_dropped(source: str, target: str, expected: str) -> None:
    assert without_context(source, target) == expected


@given(st.dictionaries(TEXTS, TEXTS, min_size=1))
def test_any_messages_are_read(pairs: dict[str, str]) -> None:
    usable = {a: b for a, b in pairs.items() if a.strip().lower() not in NO_TEXTS}
    found = read_catalogue("x.mo", messages(usable))
    assert found is not None
    assert dict(found) == usable


@given(st.integers(0, 200), st.binary(max_size=8), st.sampled_from(["x.mo", "x.po"]))
def test_broken_files_are_told_not_raised(length: int, noise: bytes, name: str) -> None:
    content = messages({"Open": "Öffnen", "Close": "Schließen"})[:length] + noise
    found = read_catalogue(name, content)
    assert found is None or isinstance(found, list)
