"""Splitting a paragraph and its translation into sentences, where both have the same number."""

from __future__ import annotations

import re

_END = re.compile(
    r"(?<=[.!?…])(?P<close>[\"'”’»“)\]]*)\s+(?=[\"'“‘«„»¿¡(\[]*[^\W\d_])|(?<=[。！？])(?P<wide>[」』”）]*)\s*(?=\S)"
)
_ABBREVIATIONS = {
    "approx", "bzw", "ca", "cf", "dt", "dr", "ed", "eng", "engl", "etc", "evtl", "fig", "ggf",
    "inc", "incl", "inkl", "max", "min", "mr", "mrs", "ms", "nr", "núm", "pág", "prof", "resp",
    "sog", "st", "usw", "vgl", "vol", "vs", "zzgl", "ej", "ex", "par", "tel", "sec", "sra",
}  # fmt: skip


def split_pair(source: str, target: str) -> list[tuple[str, str]]:
    """Return pairs of sentences, or the pair as it is where the counts differ."""
    ours, theirs = sentences(source), sentences(target)
    if len(ours) != len(theirs):
        return [(source, target)]
    return list(zip(ours, theirs, strict=True))


def sentences(text: str) -> list[str]:
    """Split after a full stop, question or exclamation mark before a word in upper case.

    Scripts without case split before any letter; abbreviations, initials and numbers with a full
    stop do not end a sentence.
    """
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end("close") if match["close"] is not None else match.end("wide")
        if match["close"] is not None and not _ends(
            text[start : match.start()], text[match.end() :]
        ):
            continue
        found.append(text[start:end])
        start = match.end()
    return [*found, text[start:]] if text[start:] else found


def _ends(before: str, after: str) -> bool:
    first = next(c for c in after if c.isalpha())
    if first.islower():
        return False
    if not before.endswith("."):
        return True
    word = re.split(r"[\s(\[/\"„“«»]", before.rstrip("."))[-1]
    return not (
        word.isdigit()
        or (len(word) == 1 and word.isalpha())
        or word.lower() in _ABBREVIATIONS
        or re.fullmatch(r"(?:\w\.)+\w", word)
    )
