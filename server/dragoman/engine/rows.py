"""Which row of the running batch belongs to which search.

The active rows are always rows 0 .. n - 1, so that a step binds a prefix of every buffer. A row
that ends leaves a hole; a search that begins takes the first hole; holes that are left before a
step are filled by moving the last active rows into them, of which only what is alive is copied.

A search may come to want more rows or fewer, each continuing one that it has. The first that
continues a row keeps it; so what is copied is what really has to be in two places, less what the
other row holds already: outputs of one search begin alike and have the same source. Since rows that
are copied from stay where they are, nothing is overwritten before it is read.
"""

from dragoman.engine.cache import Cache, Values
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
        # Written at every step, for which numpy's own way takes several times as long.
        self._fed = step_input.token.data
        self._lengths = step_input.length.data
        self._holes: set[int] = set()
        self._owners: list[Search | None] = [None] * cache.shape.rows
        # Whose source each row holds, by its number; what left the batch keeps it until replaced.
        self._sources = [0] * cache.shape.rows
        self._placed = 0

    def place(self, search: Search, source: Values) -> None:
        """Give a search its rows, all at the beginning of the same source.

        Args:
            search: it gets `search.width` rows; so many must be free.
            source: [layers, 2, heads, length, head_size], as the encoder gave it.
        """
        self._placed += 1
        search.source = self._placed
        for _ in range(search.width):
            row = self._take()
            self._owners[row] = search
            self._sources[row] = search.source
            self._cache.load_source(row, source)
            self._input.token[row] = self._bos
            self._input.length[row] = 0
            self._input.source_length[row] = source.shape[3]
            search.rows.append(row)
        self.created += search.width

    def resume(self, search: Search, token: int, known: Values) -> None:
        """Let the only row of a search that was just placed begin later.

        Args:
            search: the search.
            token: what is fed first, at the position after the known ones.
            known: [layers, 2, heads, positions, head_size], what goes before it.
        """
        [row] = search.rows
        self._cache.load_target(row, known)
        self._input.token[row] = token
        self._input.length[row] = known.shape[3]

    def read(self, row: int, positions: int) -> Values:
        """Copy a row's keys and values, [layers, 2, heads, positions, head_size]."""
        return self._cache.read_target(row, positions)

    def _take(self) -> int:
        if self._holes:
            row = min(self._holes)
            self._holes.remove(row)
            return row
        self.active += 1
        return self.active - 1

    def free(self, search: Search) -> None:
        """Take a search's rows back."""
        self._release(search.rows)
        search.rows = []

    def _release(self, rows: list[int]) -> None:
        for row in rows:
            self._owners[row] = None
            self._holes.add(row)
        self.released += len(rows)

    def rearrange(self, search: Search) -> None:
        """Give a search the rows that it asked for in `parents`, after `feed`.

        Rows that go on with nothing are free at once. A search never has more than `most_rows`.
        """
        old, parents = search.rows, search.parents or ()
        unclaimed = dict(zip(old, range(len(old)), strict=True))
        rows = [old[parent] for parent in parents]
        copied = [place for place, row in enumerate(rows) if unclaimed.pop(row, None) is None]
        spare = sorted(unclaimed)
        for place in copied:
            if spare:
                row = spare.pop()
                shared = search.shared(parents[place], unclaimed[row])
                self._duplicate(rows[place], row, shared)
            else:
                row = self._take()
                self._copy(rows[place], row)
                self._owners[row] = search
                self.created += 1
            rows[place] = row
        self._release(spare)
        for row, token in zip(rows, search.parent_ids, strict=True):
            self._fed[row] = token
        search.rows, search.parents = rows, None

    def _duplicate(self, origin: int, row: int, shared: int) -> None:
        """Copy a row's target to another row of the same search that shares its beginning."""
        length = self._lengths[origin]
        self._cache.copy_target(origin, row, min(shared, length), length)

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
        self._copy(origin, row)
        owner = self._owners[origin]
        self._owners[row], self._owners[origin] = owner, None
        if owner is not None:
            owner.rows[owner.rows.index(origin)] = row

    def _copy(self, origin: int, row: int) -> None:
        step_input, source = self._input, self._sources[origin]
        length = self._lengths[origin]
        source_length = step_input.source_length[origin]
        self._cache.copy_target(origin, row, 0, length)
        if self._sources[row] != source:
            self._cache.copy_source(origin, row, int(source_length))
            self._sources[row] = source
        self._fed[row] = self._fed[origin]
        self._lengths[row] = length
        step_input.source_length[row] = source_length

    def feed(self, tokens: list[int]) -> None:
        """Set what the next step feeds to each active row; each is one position further."""
        fed, lengths = self._fed, self._lengths
        for row, token in enumerate(tokens):
            fed[row] = token
            lengths[row] += 1

    def finite(self, search: Search) -> bool:
        """Whether all that a search's rows look back on is finite, after a step, before `feed`.

        An int8 model rounds what is not to an integer, and its outputs don't show it. Where its
        cache holds such integers too, only the evidence that each step gives does.
        """
        lengths, source_lengths = self._lengths, self._input.source_length
        return all(
            self._cache.finite(row, lengths[row] + 1, int(source_lengths[row]))
            for row in search.rows
        )

    def clear(self, search: Search) -> None:
        """Zero the rows of a search."""
        for row in search.rows:
            self._cache.clear(row)
            self._sources[row] = 0
