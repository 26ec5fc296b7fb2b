"""What decoded rows leave behind: a later request that begins in the same way needn't step there.

Each position's keys and values depend on the source and on the tokens up to it alone, and a step
always computes them in the same way; so a copy has the very bits that stepping would give.
"""

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.engine.cache import Values
from dragoman.engine.lru import LruBytes

_OVERHEAD, _PER_TOKEN = 512, 112

_Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownPrefix:
    """The beginning of a target, as it was computed before.

    Attributes:
        token_ids: its tokens.
        log_probabilities: of each of them.
        target: [layers, 2, heads, tokens, head_size], the self-attention's keys and
            values up to the position before the last token; the last one is still to be fed.
    """

    token_ids: _Ids
    log_probabilities: tuple[float, ...]
    target: Values


class PrefixCache:
    """Decoded prefixes by source and target. May be used by any thread.

    No entry is the beginning of another of the same source. So, in the order of their tokens,
    what has most in common with given tokens is next to their place.

    Attributes:
        enabled: whether it may hold anything.
        reused: tokens of forced prefixes that were taken from it.
        computed: tokens of forced prefixes that were stepped.
    """

    def __init__(self, max_bytes: int) -> None:
        """Begin empty; with `max_bytes` 0 it stays so."""
        self.enabled = max_bytes > 0
        self.reused = 0
        self.computed = 0
        self._lock = threading.Lock()
        self._entries: LruBytes[tuple[_Ids, _Ids], KnownPrefix] = LruBytes(max_bytes)
        self._targets: dict[_Ids, list[_Ids]] = {}

    @property
    def bytes(self) -> int:
        """Bytes that it holds."""
        return self._entries.bytes

    def find(self, source: _Ids, wanted: _Ids) -> KnownPrefix | None:
        """Give the longest known beginning of a target, or None, and count what it saves."""
        with self._lock:
            length, target = self._closest(source, wanted)
            self.reused += length
            self.computed += len(wanted) - length
            entry = self._entries.get((source, target)) if length else None
        if entry is None:
            return None
        return KnownPrefix(
            target[:length], entry.log_probabilities[:length], entry.target[:, :, :, :length]
        )

    def _closest(self, source: _Ids, wanted: _Ids) -> tuple[int, _Ids]:
        """Give the entry that has most in common with a target, and how many tokens that is."""
        targets = self._targets.get(source, [])
        place = bisect_left(targets, wanted)
        near = targets[max(0, place - 1) : place + 1]
        return max(((_common_length(each, wanted), each) for each in near), default=(0, ()))

    def keep(
        self,
        source: _Ids,
        target: _Ids,
        log_probabilities: Sequence[float],
        read: Callable[[int], Values],
    ) -> None:
        """Keep a target, unless it is the beginning of one that is kept.

        Args:
            source: tokens of the source.
            target: tokens of text.
            log_probabilities: of each of them; more may follow.
            read: gives a copy of the keys and values of the first so many positions,
                [layers, 2, heads, positions, head_size].
        """
        with self._lock:
            common, closest = self._closest(source, target)
            if common == len(target):
                self._entries.get((source, closest))
                return
            values = read(len(target))
            if not np.isfinite(values).all():
                return
            if common == len(closest):
                self._forget(source, closest)
            known = tuple(log_probabilities[: len(target)])
            self._enter(source, KnownPrefix(target, known, values))

    def _enter(self, source: _Ids, known: KnownPrefix) -> None:
        target = known.token_ids
        size = known.target.nbytes + _OVERHEAD + _PER_TOKEN * len(target) + 8 * len(source)
        if not self._entries.fits(size):
            return
        insort(self._targets.setdefault(source, []), target)
        for key in self._entries.put((source, target), known, size):
            self._drop(*key)

    def _forget(self, source: _Ids, target: _Ids) -> None:
        if target:
            self._entries.remove((source, target))
            self._drop(source, target)

    def _drop(self, source: _Ids, target: _Ids) -> None:
        targets = self._targets[source]
        del targets[bisect_left(targets, target)]
        if not targets:
            del self._targets[source]


def _common_length(first: _Ids, second: _Ids) -> int:
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))
