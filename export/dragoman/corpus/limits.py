"""Doublets, and at most a few translations for one text, either way."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from dragoman.corpus.pair import Pair

_DIGIT = re.compile(r"\d")

MAX_ALTERNATIVES = 3
"""Targets of one source, sources of one target, and numbers in one text."""


def without_doublets(pairs: Sequence[Pair]) -> tuple[list[Pair], Counter[tuple[str, str]]]:
    """Keep the first of equal (source, target), and return how often each was seen.

    Of pairs that differ in their digits alone `MAX_ALTERNATIVES` are kept.
    """
    seen: Counter[tuple[str, str]] = Counter()
    alike: Counter[tuple[str, str]] = Counter()
    kept: list[Pair] = []
    for pair in pairs:
        key = (pair.source, pair.target)
        seen[key] += 1
        if seen[key] == 1:
            pattern = (_DIGIT.sub("0", pair.source), _DIGIT.sub("0", pair.target))
            alike[pattern] += 1
            if alike[pattern] <= MAX_ALTERNATIVES:
                kept.append(pair)
    return kept, seen


def few_alternatives(
    pairs: Sequence[Pair], seen: Counter[tuple[str, str]], *, by_target: bool
) -> list[Pair]:
    """Keep the `MAX_ALTERNATIVES` commonest targets of each source, or sources of each target.

    Of equally common ones the first stay. The order of pairs is kept.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        groups[pair.target if by_target else pair.source].append(index)
    kept = {
        index
        for indexes in groups.values()
        for index in sorted(indexes, key=lambda i: (-seen[pairs[i].source, pairs[i].target], i))[
            :MAX_ALTERNATIVES
        ]
    }
    return [pair for index, pair in enumerate(pairs) if index in kept]
