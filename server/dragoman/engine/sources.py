"""Encoded sources that may be wanted again."""

import numpy as np

from dragoman.engine.cache import Values
from dragoman.engine.lru import LruBytes

# What an entry takes beside its numbers: its key, and Python's own bookkeeping.
_OVERHEAD, _PER_TOKEN = 512, 40


class SourceCache:
    """Encoded sources by their tokens. Used by one thread only; anyone may read its counts.

    Attributes:
        hits: sources that needn't be encoded.
        misses: sources that were encoded.
    """

    def __init__(self, max_bytes: int) -> None:
        """Begin empty; with `max_bytes` 0 it stays so."""
        self.hits = 0
        self.misses = 0
        self._entries: LruBytes[tuple[int, ...], Values] = LruBytes(max_bytes)

    @property
    def bytes(self) -> int:
        """Bytes that it holds."""
        return self._entries.bytes

    def find(self, ids: tuple[int, ...]) -> Values | None:
        """Give an encoded source, [layers, 2, heads, length, head_size], or None."""
        return self._entries.get(ids)

    def keep(self, ids: tuple[int, ...], encoded: Values) -> Values:
        """Keep an encoded source that wasn't there.

        Args:
            ids: its tokens.
            encoded: [layers, 2, heads, length, head_size], perhaps part of a batch.

        Returns:
            The same numbers; where they are kept, in memory of their own.
        """
        size = encoded.nbytes + _OVERHEAD + _PER_TOKEN * len(ids)
        if not self._entries.fits(size):
            return encoded
        kept = np.ascontiguousarray(encoded)
        self._entries.put(ids, kept, size)
        return kept
