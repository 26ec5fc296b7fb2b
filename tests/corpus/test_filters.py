"""Every filter by cases that it drops and cases that it lets through."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.filters import COPIES_KEPT, FILTERS, is_copy, reason_to_drop
from dragoman.corpus.placeholders import placeholders, without_placeholders

SENTENCE = "The file is open."
DROPPED: dict[str, list[tuple[str, str]]] = {
    "empty": [("", "x"), ("Open", " ")],
    "too long": [("a " * 301, "Öffnen"), ("Open", "ä" * 601)],
    "symbols only": [("...", "Punkte"), ("50 %", "50 %"), ("%s: %d", "%s: %d"), ("x", "y"),
                     ("A4 210 297", "A4 210 297")],
    "path": [("/usr/share/man", "/usr/share/man"), ("~/.config/x", "x y"), ("*.png", "Bilder"),
             ("readme.txt", "liesmich.txt"), ("C:\\Windows\\x", "Windows")],
    "key": [("<Ctrl>A", "Strg+A"), ("Ctrl+Shift+K", "Strg+Umschalt+K"), ("Ctrl + O", "Strg + O"),
            ("F12", "Taste F12")],
    "code": [("--verbose", "ausführlich"), ("file_name", "Dateiname"), ("std::string", "Text"),
             ("open()", "öffnen"), ("camelCase", "Kamel"), ("KEY=value", "SCHLÜSSEL=Wert"),
             ("if (a == b) { x = y; }", "wenn (a == b) { x = y; }"), ("Open", "{[<|=o|>]}")],
    "copy": [("Gnumeric", "Gnumeric"), ("Gnumeric", "GNUMERIC"),
             ("Fitbit Zip", "Fitbit-Zip ;")],
    "placeholders differ": [("Open %s now", "Jetzt öffnen"), ("%d of %s", "%d von %d"),
                            ("See <b>this</b> text", "Siehe diesen Text"),
                            ("See https://a.org/x now", "Siehe https://b.org/x jetzt"),
                            ("{name} is here", "{Name} ist da")],
    "brackets differ": [("Open (all)", "Alle öffnen"), ("a [b] text", "ein (b) Text")],
    "numbers differ": [("in 1990 it was", "im Jahr 1991 war es"), ("two files", "2 Dateien")],
    "accelerators differ": [("Open file", "Datei _öffnen"), ("Open it", "&Öffnen"),
                            ("~Open it", "Es öffnen")],
}  # fmt: skip
KEPT = [
    ("Open", "Öffnen"),
    (SENTENCE, "Die Datei ist offen."),
    ("Cut & Paste", "Ausschneiden & Einfügen"),
    ("Open %1$s in %2$d", "%2$d: %1$s öffnen"),
    ("Size: 1,000.5 MB", "Größe: 1.000,5 MB"),
    ("On 12/31/2000", "Am 31.12.2000"),
    ("100% of all", "100 % von allen"),
    ("Use the open() function.", "Verwenden Sie die Funktion open()."),
    ("See <file> there", "Siehe <Datei> dort"),
    ("Visit https://a.org/x.", "Besuchen Sie https://a.org/x"),
    ("Open (all)", "全て開く\uff08全部\uff09"),
    ("Wi-Fi networks and/or cables", "WLAN-Netze und/oder Kabel"),
    ("the file_name field", "das Feld file_name"),
    ("OK, go", "Los"),
    ("File", "檔"),
]


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [(name, *pair) for name, pairs in DROPPED.items() for pair in pairs],
)
def test_dropped(name: str, source: str, target: str) -> None:
    assert FILTERS[name](source, target)
    assert reason_to_drop(source, target) is not None


@pytest.mark.parametrize(("source", "target"), KEPT)
def test_kept(source: str, target: str) -> None:
    assert reason_to_drop(source, target) is None


def test_every_filter_has_cases() -> None:
    assert DROPPED.keys() == FILTERS.keys()


def test_few_copies_stay() -> None:
    names = [f"name{i}" for i in range(4000)]
    stay = sum(not is_copy(name, name) for name in names)
    assert 0.7 * COPIES_KEPT < stay / len(names) < 1.3 * COPIES_KEPT
    assert [is_copy(n, n) for n in names] == [is_copy(n, n.upper()) for n in names]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%s %d %5.2f %lu %%", {"%s": 1, "%d": 1, "%5.2f": 1, "%lu": 1}),
        ("%1$s %s", {"%s": 2}),
        ("%(name)s %1 %L2 %n", {"%(name)s": 1, "%1": 1, "%L2": 1, "%n": 1}),
        ("{} {0} {{x}} ${home} $USER $(make)",
         {"{}": 1, "{0}": 1, "{{x}}": 1, "${home}": 1, "$USER": 1, "$(make)": 1}),
        ("@TITLE@ a@b.org <a href=\"x\">y</a>",
         {"@TITLE@": 1, "a@b.org": 1, '<a href="x">': 1, "</a>": 1}),
        ("100% sure, 50%-ig", {}),
        ("<file> <b>", {"<b>": 1}),
        ("http://a.org/, (https://b.org)", {"http://a.org": 1, "https://b.org": 1}),
    ],
)  # fmt: skip
def test_placeholders(text: str, expected: dict[str, int]) -> None:
    assert placeholders(text) == Counter(expected)


@given(st.text(), st.text())
def test_any_texts_can_be_judged(source: str, target: str) -> None:
    for drops in FILTERS.values():
        assert drops(source, target) in {True, False}
    assert placeholders(source + " ") == placeholders(source)
    assert len(without_placeholders(source)) <= len(source)


@given(st.text(st.characters(categories=["Ll"]), min_size=2, max_size=50))
def test_agreement_is_mutual(text: str) -> None:
    for name in ("placeholders differ", "brackets differ", "numbers differ", "accelerators differ"):
        assert not FILTERS[name](text, text)
        for source, target in DROPPED[name]:
            assert FILTERS[name](source, target) == FILTERS[name](target, source)
