"""Which row of the running batch belongs to which search.

The active rows are always rows 0 .. n - 1, so that a step binds a prefix of every buffer. A row
that ends leaves a hole; a search that begins takes the first hole; holes that are left before a
step are filled by moving the last active rows into them, of which only what is alive is copied.
"""

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.cache import Cache
from dragoman.engine.search import Search
from dragoman.engine.sessions import StepInput


class Rows:
    """The rows of a cache and what is fed to them.

    Attributes:
        active: rows in use from 0 on; after `compact` each of them is.
        created: rows ever given to a search.
        released: rows ever taken back.
    """

    def __init__(self, cache: Cache, step_input: StepInput, bos: int) -> None:
        """Begin without active rows.

        Args:
            cache: the rows' keys and values.
            step_input: the rows' tokens and lengths.
            bos: the token that every row is fed first.
        """
        self.active = 0
        self.created = 0
        self.released = 0
        self._cache = cache
        self._input = step_input
        self._bos = bos
        self._holes: set[int] = set()
        self._owners: list[Search | None] = [None] * cache.shape.rows

    def place(self, search: Search, source: NDArray[np.float32]) -> None:
        """Give a search its rows, all at the beginning of the same source.

        Args:
            search: it gets `search.width` rows; so many must be free.
            source: float32 [layers, 2, heads, length, head_size], as the encoder gave it.
        """
        for _ in range(search.width):
            row = self._take()
            self._owners[row] = search
            self._cache.load_source(row, source)
            self._input.token[row] = self._bos
            self._input.length[row] = 0
            self._input.source_length[row] = source.shape[3]
            search.rows.append(row)
        self.created += search.width

    def _take(self) -> int:
        if self._holes:
            row = min(self._holes)
            self._holes.remove(row)
            return row
        self.active += 1
        return self.active - 1

    def free(self, search: Search) -> None:
        """Take a search's rows back."""
        for row in search.rows:
            self._owners[row] = None
            self._holes.add(row)
        self.released += len(search.rows)
        search.rows = []

    def compact(self) -> int:
        """Fill the holes from the end and give the number of active rows."""
        while self._holes:
            last = self.active - 1
            if last in self._holes:
                self._holes.remove(last)
            else:
                self._move(last, self._take())
            self.active = last
        return self.active

    def _move(self, origin: int, row: int) -> None:
        step_input = self._input
        length = int(step_input.length[origin])
        source_length = int(step_input.source_length[origin])
        self._cache.copy(origin, row, length, source_length)
        step_input.token[row] = step_input.token[origin]
        step_input.length[row] = length
        step_input.source_length[row] = source_length
        owner = self._owners[origin]
        self._owners[row], self._owners[origin] = owner, None
        if owner is not None:
            owner.rows[owner.rows.index(origin)] = row

    def feed(self, tokens: list[int]) -> None:
        """Set what the next step feeds to each active row; each is one position further."""
        self._input.token[: self.active] = tokens
        self._input.length[: self.active] += 1

    def clear(self, search: Search) -> None:
        """Zero the rows of a search."""
        for row in search.rows:
            self._cache.clear(row)
