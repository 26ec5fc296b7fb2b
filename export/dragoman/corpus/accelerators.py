"""Accelerator marks, which show the key of a menu entry: `_Open`, `&Open`, `~Open`."""

from __future__ import annotations

import re

MARKS = "_&~"

_SUFFIX = re.compile(r"\s*\([_&~]\w\)")
_SHORTCUT = re.compile(r"\t[^\t]*\Z")


def without_accelerators(source: str, target: str) -> tuple[str, str]:
    """Drop a mark from a menu entry and its translation, and a shortcut behind a tab.

    A mark inside a word that both sides have is part of a name ("R&D", "file_name") and stays, and
    so do several marks in one text, or one inside a word of the source alone.
    """
    if "\t" in source and "\t" in target:
        source, target = _SHORTCUT.sub("", source), _SHORTCUT.sub("", target)
    for mark in MARKS:
        if mark in source:
            source, target = _without(source, target, mark)
    return source, target


def _without(source: str, target: str, mark: str) -> tuple[str, str]:
    target = _SUFFIX.sub("", target)
    ours, theirs = _places(source, mark, target), _places(target, mark, source)
    if len(ours) != 1 or len(theirs) > 1:
        return source, target
    if not theirs and not _begins_word(source, ours[0]):
        return source, target
    return _cut(source, ours), _cut(target, theirs)


def _places(text: str, mark: str, other: str) -> list[int]:
    """Return where the mark stands before a letter or digit, but for names, which `other` has."""
    return [
        word.start() + match.start()
        for word in re.finditer(r"\S+", text)
        for match in re.finditer(rf"{mark}(?=[^\W_])", word[0])
        if _begins_word(word[0], match.start()) or word[0].strip(".,;:!?()") not in other
    ]


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()


def _cut(text: str, places: list[int]) -> str:
    return "".join(text[:place] + text[place + 1 :] for place in places) or text
