"""What was used last stays, up to a number of bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruBytes(Generic[K, V]):
    """A dictionary that forgets what was not used for the longest time. Used by one thread only.

    Attributes:
        bytes: of all values that it holds, at most `max_bytes`.
    """

    def __init__(self, max_bytes: int) -> None:
        """Begin empty; with `max_bytes` 0 it stays so."""
        self.bytes = 0
        self._max_bytes = max_bytes
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        """Entries that it holds."""
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Give a value and count it as used, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def fits(self, size: int) -> bool:
        """Whether a value of this size can be held at all."""
        return size <= self._max_bytes

    def put(self, key: K, value: V, size: int) -> list[K]:
        """Hold a value.

        Args:
            key: not held yet.
            value: what is held; one that doesn't fit is left out.
            size: its bytes.

        Returns:
            The keys that were forgotten for it.
        """
        if not self.fits(size):
            return []
        self._entries[key] = (value, size)
        self.bytes += size
        forgotten: list[K] = []
        while self.bytes > self._max_bytes:
            oldest = next(iter(self._entries))
            self.remove(oldest)
            forgotten.append(oldest)
        return forgotten

    def remove(self, key: K) -> None:
        """Forget a value that is held."""
        self.bytes -= self._entries.pop(key)[1]
