"""debconf's templates: the questions that packages ask, from their control part."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.corpus.deb822 import paragraphs
from dragoman.corpus.locales import Locale


def read_questions(templates: str, target: Locale) -> Iterator[tuple[str, str]]:
    """Yield synopses, paragraphs of explanations and choices with their translations.

    Explanations and choices are used where both languages have the same number of them.
    """
    for fields in paragraphs(templates.splitlines()):
        if fields.get("type", "title") == "title":
            continue
        ours, theirs = (_parts(text) for text in _both(fields, "description", target))
        same = len(ours) == len(theirs)
        yield from zip(ours, theirs, strict=True) if same else [(ours[0], theirs[0])]
        ours, theirs = (_choices(text) for text in _both(fields, "choices", target))
        if len(ours) == len(theirs):
            yield from zip(ours, theirs, strict=True)


def _both(fields: dict[str, str], name: str, target: Locale) -> tuple[str, str]:
    """Return a field and its translation, both empty where one is missing."""
    source = fields.get(name) or fields.get(f"{name}-c", "")
    translated = fields.get(f"{name}-{target.name}.utf-8".lower(), "")
    return (source, translated) if source and translated else ("", "")


def _parts(text: str) -> list[str]:
    synopsis, _, explanation = text.partition("\n")
    parts = re.split(r"\n\s*\.\s*\n", explanation)
    return [part for part in (synopsis, *map(_one_line, parts)) if part]


def _choices(text: str) -> list[str]:
    choices = re.split(r"(?<!\\),", text)
    return [choice.strip().replace("\\,", ",") for choice in choices if choice.strip()]


def _one_line(text: str) -> str:
    return " ".join(text.split())
