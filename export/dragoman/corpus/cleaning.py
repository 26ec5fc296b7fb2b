"""From a text as a program has it to sentences as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from dragoman.corpus.accelerators import without_accelerators
from dragoman.corpus.pair import Pair
from dragoman.corpus.sentences import split_pair
from dragoman.corpus.text import normal, parts, unwrapped, without_entities, without_layout

_ITEM = re.compile(r"(?:[-*•·]|\d+(?:\.\d+)*[.)])\s+")
_INTERFACES = {"gettext", "games"}


def clean(pair: Pair) -> Iterator[Pair]:
    """Yield the sentences of a pair, plain and on one line each.

    Paragraphs and sentences are told apart only where both sides have the same number of them.
    """
    source, target = without_entities(pair.source, pair.target)
    if pair.origin in _INTERFACES:
        source, target = without_accelerators(source, target)
    for ours, theirs in _paragraphs(without_layout(source), without_layout(target)):
        for left, right in split_pair(*_without_item(_plain(ours), _plain(theirs))):
            yield replace(pair, source=left, target=right)


def _paragraphs(source: str, target: str) -> list[tuple[str, str]]:
    ours, theirs = parts(source), parts(target)
    if len(ours) == len(theirs):
        return list(zip(ours, theirs, strict=True))
    return [(source, target)]


def _plain(paragraph: str) -> str:
    return unwrapped(normal(paragraph))


def _without_item(source: str, target: str) -> tuple[str, str]:
    """Drop what begins a list's item, if both sides have it."""
    ours, theirs = _ITEM.match(source), _ITEM.match(target)
    if ours and theirs and ours[0] == theirs[0]:
        return source[ours.end() :], target[theirs.end() :]
    return source, target
