"""What training has seen is not held out: exact, nearly exact and mostly shared texts go.

Texts are compared by their words alone: case, digits, punctuation and symbols do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dragoman.corpus.pair import Pair

GRAM = 6
MAX_SHARED = 0.5
"""Share of a source's 6-grams that training may have."""

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]+")


def words(text: str) -> Words:
    """Return the words that count in comparing texts."""
    return tuple(_WORD.findall(text.casefold()))


def leaks(held_out: Sequence[Pair], train: Iterable[Pair]) -> dict[int, str]:
    """Return {index in `held_out`: why it must go}.

    Reasons: "source in train", "target in train", "one word from train" (a word of the source
    put in, left out or changed), "6-grams in train" (more than half of the source's).
    """
    index = _Index(held_out)
    for pair in train:
        index.compare(pair)
    return index.found


class _Index:
    """The held-out pairs by all that training is compared with; training streams past."""

    def __init__(self, held_out: Sequence[Pair]) -> None:
        self.found: dict[int, str] = {}
        self._sources: dict[Words, list[int]] = {}
        self._targets: dict[Words, list[int]] = {}
        self._gaps: dict[tuple[int, Words], list[int]] = {}
        self._shorter: dict[Words, list[int]] = {}
        self._grams: dict[Words, list[int]] = {}
        self._gram_counts: Counter[int] = Counter()
        self._seen: Counter[int] = Counter()
        for index, pair in enumerate(held_out):
            self._add(index, words(pair.source), words(pair.target))

    def _add(self, index: int, source: Words, target: Words) -> None:
        self._sources.setdefault(source, []).append(index)
        self._targets.setdefault(target, []).append(index)
        for place, rest in _gaps(source):
            self._gaps.setdefault((place, rest), []).append(index)
            self._shorter.setdefault(rest, []).append(index)
        for gram in set(_grams(source)):
            self._grams.setdefault(gram, []).append(index)
            self._gram_counts[index] += 1

    def compare(self, pair: Pair) -> None:
        """Enter what a pair of the training set gives away."""
        source = words(pair.source)
        self._enter(self._sources.get(source, ()), "source in train")
        self._enter(self._targets.get(words(pair.target), ()), "target in train")
        self._enter(self._shorter.get(source, ()), "one word from train")
        for place, rest in _gaps(source):
            self._enter(self._gaps.get((place, rest), ()), "one word from train")
            self._enter(self._sources.get(rest, ()), "one word from train")
        for gram in _grams(source):
            self._see(gram)

    def _see(self, gram: Words) -> None:
        for index in self._grams.pop(gram, ()):
            self._seen[index] += 1
            if self._seen[index] > MAX_SHARED * self._gram_counts[index]:
                self._enter([index], "6-grams in train")

    def _enter(self, indexes: Iterable[int], reason: str) -> None:
        for index in indexes:
            self.found.setdefault(index, reason)


def _gaps(text: Words) -> Iterator[tuple[int, Words]]:
    for place in range(len(text)):
        yield place, text[:place] + text[place + 1 :]


def _grams(text: Words) -> Iterator[Words]:
    for start in range(len(text) - GRAM + 1):
        yield text[start : start + GRAM]
