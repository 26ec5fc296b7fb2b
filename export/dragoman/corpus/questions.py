"""debconf's templates: the questions that packages ask, from their control part."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.corpus.deb822 import paragraphs
from dragoman.corpus.locales import Locale


def read_questions(templates: str, target: Locale) -> Iterator[tuple[str, str]]:
    """Yield synopses, paragraphs of explanations and choices with their translations.

    Explanations and choices are used where both languages have the same number of parts.
    """
    for fields in paragraphs(templates.splitlines()):
        for name in ("description", "choices", "choices-c", "default"):
            translated = _translation(fields, name.removesuffix("-c"), target)
            source = fields.get(name, "")
            if not source or not translated or fields.get("type") in {None, "title"}:
                continue
            split = _choices if name.startswith("choices") else _parts
            yield from _together(split(source), split(translated))


def _translation(fields: dict[str, str], name: str, target: Locale) -> str:
    keys = [f"{name}-{target.name}.utf-8", f"{name}-{target.name}.utf8"]
    return next((fields[key.lower()] for key in keys if key.lower() in fields), "")


def _parts(text: str) -> list[str]:
    synopsis, _, explanation = text.partition("\n")
    paragraphs_ = re.split(r"\n\s*\.\s*\n", explanation)
    return [synopsis, *(" ".join(part.split()) for part in paragraphs_ if part.strip())]


def _choices(text: str) -> list[str]:
    return [choice.strip() for choice in re.split(r"(?<!\\),", text)]


def _together(source: list[str], target: list[str]) -> Iterator[tuple[str, str]]:
    if len(source) == len(target):
        yield from zip(source, target, strict=True)
    elif source and target:
        yield source[0], target[0]
