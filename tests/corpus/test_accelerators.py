"""Accelerator marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.accelerators import MARKS, without_accelerators

WORDS = st.lists(st.from_regex(r"[A-Za-zäöü]{1,8}", fullmatch=True), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("_Open", "Ö_ffnen", ("Open", "Öffnen")),
        ("Save _As...", "Speichern _unter...", ("Save As...", "Speichern unter...")),
        ("For_mat", "Format _umwandeln", ("Format", "Format umwandeln")),
        ("_Version:", "_Version:", ("Version:", "Version:")),
        ("&Open", "Öffnen", ("Open", "Öffnen")),
        ("~Open", "~Öffnen", ("Open", "Öffnen")),
        ("_Open", "開く(_O)", ("Open", "開く")),
        ("&Save\tCtrl+S", "&Speichern\tStrg+S", ("Save", "Speichern")),
        ("R&D", "R&D-Abteilung", ("R&D", "R&D-Abteilung")),
        ("the file_name here", "der Dateiname hier", ("the file_name here", "der Dateiname hier")),
        ("open file_name", "file_name öffnen", ("open file_name", "file_name öffnen")),
        ("_a and _b", "_a und _b", ("_a and _b", "_a und _b")),
        ("Search & Replace", "Suchen & Ersetzen", ("Search & Replace", "Suchen & Ersetzen")),
        ("~/file", "~/Datei", ("~/file", "~/Datei")),
        ("_Edit file_name", "file_name _bearbeiten", ("Edit file_name", "file_name bearbeiten")),
    ],
)
def test_marks(source: str, target: str, expected: tuple[str, str]) -> None:
    assert without_accelerators(source, target) == expected


@given(WORDS, WORDS, st.sampled_from(MARKS), st.data())
def test_one_mark_before_a_word_is_undone(
    source: list[str], target: list[str], mark: str, data: st.DataObject
) -> None:
    plain = (" ".join(source), " ".join(target))
    marked = []
    for words in (source, target):
        place = data.draw(st.integers(0, len(words) - 1))
        marked.append(" ".join(f"{mark}{w}" if i == place else w for i, w in enumerate(words)))
    ours, theirs = marked
    assert without_accelerators(ours, theirs) == plain


@given(st.text(st.characters(exclude_characters=MARKS + "\t")), st.text())
def test_a_source_without_marks_leaves_both_alone(source: str, target: str) -> None:
    assert without_accelerators(source, target) == (source, target)
