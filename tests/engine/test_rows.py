"""Active rows stay a prefix, and a moved row takes all that is alive with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dragoman.engine.cache import Cache, CacheShape
from dragoman.engine.rows import Rows
from dragoman.engine.search import Search, Step
from dragoman.engine.search.base import common_length
from dragoman.engine.sessions import StepInput

BOS = 2
SHAPE = CacheShape(layers=1, rows=6, heads=2, head_size=2, target_capacity=32, source_capacity=32)


class Idle(Search):
    """A search that only holds rows; `histories` says what each of them was fed."""

    __slots__ = ("histories", "mark", "source_length", "steps")

    def __init__(self, mark: int, width: int, source_length: int) -> None:
        super().__init__(width, candidates=1, all_log_probs=False)
        self.mark = mark
        self.source_length = source_length
        self.steps = 0
        self.histories: list[tuple[float, ...]] = [()] * width

    @property
    def forced(self) -> tuple[int, ...]:
        return ()

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None: ...

    def trace(self) -> None:
        return None

    def shared(self, place: int, other: int) -> int:
        return common_length((self.histories[place], self.histories[other]))

    def advance(self, step: Step) -> bool:
        return False


class Traffic(RuleBasedStateMachine):
    """Random searches come, advance and go; each finds its own marks wherever it was moved."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = Cache(SHAPE)
        self.input = StepInput.zeros(SHAPE.rows)
        self.rows = Rows(self.cache, self.input, BOS)
        self.searches: list[Idle] = []
        self.marks = 0
        self.fed = 0.0

    @property
    def used(self) -> int:
        return sum(len(search.rows) for search in self.searches)

    @precondition(lambda self: self.used < SHAPE.rows)
    @rule(data=st.data(), source_length=st.integers(1, 30))
    def place(self, data: st.DataObject, source_length: int) -> None:
        width = data.draw(st.integers(1, SHAPE.rows - self.used))
        self.marks += 1
        search = Idle(self.marks, width, source_length)
        shape = (SHAPE.layers, 2, SHAPE.heads, source_length, SHAPE.head_size)
        self.rows.place(search, np.full(shape, self.marks, np.float32))
        for row in search.rows:
            assert self.input.token[row] == BOS
            assert self.input.length[row] == 0
        self.searches.append(search)

    @precondition(lambda self: self.searches)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        index = data.draw(st.integers(0, len(self.searches) - 1))
        search = self.searches.pop(index)
        self.rows.free(search)
        assert search.rows == []

    @rule()
    def step(self) -> None:
        """Write something new at the next position of each row, as the graph would."""
        active = self.rows.compact()
        assert active == self.used
        if any(search.steps >= SHAPE.target_capacity for search in self.searches):
            return
        tokens = [0] * active
        for search in self.searches:
            for place, row in enumerate(search.rows):
                assert self.input.length[row] == search.steps
                self.fed += 1
                search.histories[place] = (*search.histories[place], self.fed)
                self.cache.target[:, :, row, :, search.steps] = self.fed
                tokens[row] = search.mark
            search.steps += 1
        self.rows.feed(tokens)

    @precondition(lambda self: any(search.steps for search in self.searches))
    @rule(data=st.data())
    def rearrange(self, data: st.DataObject) -> None:
        """Let a search continue some of its rows, each any number of times."""
        search = data.draw(st.sampled_from([s for s in self.searches if s.steps]))
        most = SHAPE.rows - self.used + len(search.rows)
        places = st.integers(0, len(search.rows) - 1)
        parents = data.draw(st.lists(places, min_size=1, max_size=most))
        had, source = len(search.rows), self.cache.source.copy()
        search.parents, search.parent_ids = parents, [search.mark] * len(parents)
        self.rows.rearrange(search)
        search.histories = [search.histories[parent] for parent in parents]
        assert len(search.rows) == len(parents)
        if len(parents) <= had:
            assert (self.cache.source == source).all()

    @invariant()
    def every_search_finds_its_own(self) -> None:
        taken = [row for search in self.searches for row in search.rows]
        assert len(taken) == len(set(taken)) == self.used
        assert self.rows.created - self.rows.released == self.used
        for search in self.searches:
            for place, row in enumerate(search.rows):
                self._check(search, row, search.histories[place])

    def _check(self, search: Idle, row: int, history: tuple[float, ...]) -> None:
        assert self.input.source_length[row] == search.source_length
        assert self.input.length[row] == search.steps
        assert self.input.token[row] == (search.mark if search.steps else BOS)
        assert (self.cache.source[:, :, row, :, : search.source_length] == search.mark).all()
        assert search.steps == len(history)
        expected = np.array(history, np.float32)[:, None]
        assert (self.cache.target[:, :, row, :, : search.steps] == expected).all()


TestTraffic = Traffic.TestCase
TestTraffic.settings = settings(max_examples=50, stateful_step_count=40)


def rows_and_searches(count: int) -> tuple[Rows, Cache, list[Idle]]:
    cache = Cache(SHAPE)
    rows = Rows(cache, StepInput.zeros(SHAPE.rows), BOS)
    searches = [Idle(mark, 1, 3) for mark in range(count)]
    for search in searches:
        rows.place(search, np.ones((1, 2, 2, 3, 2), np.float32))
    return rows, cache, searches


def test_a_newcomer_takes_the_hole_and_nothing_moves() -> None:
    rows, _, searches = rows_and_searches(4)
    rows.free(searches[1])
    newcomer = Idle(9, 1, 3)
    rows.place(newcomer, np.ones((1, 2, 2, 3, 2), np.float32))
    assert newcomer.rows == [1]
    assert rows.compact() == 4
    assert [search.rows for search in searches] == [[0], [], [2], [3]]


def test_the_last_row_moves_into_a_hole() -> None:
    rows, _, searches = rows_and_searches(4)
    rows.free(searches[1])
    assert rows.compact() == 3
    assert [search.rows for search in searches] == [[0], [], [2], [1]]


def test_trailing_holes_move_nothing() -> None:
    rows, _, searches = rows_and_searches(4)
    rows.free(searches[3])
    rows.free(searches[2])
    assert rows.compact() == 2
    assert [search.rows for search in searches] == [[0], [1], [], []]


def test_a_row_can_begin_after_what_is_known() -> None:
    rows, cache, searches = rows_and_searches(2)
    known = np.full((1, 2, 2, 5, 2), 6, np.float32)
    rows.resume(searches[1], 17, known)
    assert (rows._input.token[1], rows._input.length[1]) == (17, 5)
    copy = rows.read(1, 5)
    cache.clear(1)
    assert (copy == known).all()
    assert rows._input.length[0] == 0


def test_clearing_zeroes_the_rows_of_one_search() -> None:
    rows, cache, searches = rows_and_searches(2)
    rows.clear(searches[0])
    assert not cache.source[:, :, 0].any()
    assert cache.source[:, :, 1].any()


class Counting(Cache):
    """A cache that notes what is copied."""

    def __init__(self) -> None:
        super().__init__(SHAPE)
        self.targets: list[tuple[int, int, int, int]] = []
        self.sources: list[tuple[int, int]] = []

    def copy_target(self, origin: int, row: int, start: int, length: int) -> None:
        self.targets.append((origin, row, start, length))
        super().copy_target(origin, row, start, length)

    def copy_source(self, origin: int, row: int, length: int) -> None:
        self.sources.append((origin, row))
        super().copy_source(origin, row, length)


def rearranged(parents: list[int]) -> tuple[Counting, Idle, Rows]:
    """A search on rows 0, 1 and 2, two steps old, that goes on in another way."""
    cache = Counting()
    rows = Rows(cache, StepInput.zeros(SHAPE.rows), BOS)
    search = Idle(7, 3, 3)
    rows.place(search, np.ones((1, 2, 2, 3, 2), np.float32))
    for _ in range(2):
        rows.feed([0] * rows.compact())
    search.parents, search.parent_ids = parents, [10 + place for place in range(len(parents))]
    rows.rearrange(search)
    return cache, search, rows


def test_an_order_that_changes_copies_nothing() -> None:
    cache, search, rows = rearranged([2, 0, 1])
    assert (cache.targets, cache.sources) == ([], [])
    assert search.rows == [2, 0, 1]
    assert rows._input.token[:3].tolist() == [11, 12, 10]


def test_only_a_row_that_is_needed_twice_is_copied() -> None:
    cache, search, rows = rearranged([1, 1, 2])
    assert (cache.targets, cache.sources) == ([(1, 0, 0, 2)], [])
    assert search.rows == [1, 0, 2]
    assert rows._input.token[:3].tolist() == [11, 10, 12]


def test_rows_that_go_on_with_nothing_are_free_at_once() -> None:
    cache, search, rows = rearranged([2])
    assert rows.compact() == 1
    assert search.rows == [0]
    assert rows.created - rows.released == 1
    assert cache.targets == [(2, 0, 0, 2)]


def test_what_a_row_holds_already_is_not_copied() -> None:
    cache, search, rows = rearranged([0, 1, 2])
    search.histories = [(1, 2), (1, 3), (4, 5)]
    search.parents, search.parent_ids = [0, 0, 2], [7, 7, 7]
    rows.rearrange(search)
    assert cache.targets == [(0, 1, 1, 2)]
    search.parents, search.parent_ids = [0, 1], [7, 7]
    rows.rearrange(search)
    search.parents, search.parent_ids = [0, 1, 0], [7, 7, 7]
    rows.rearrange(search)
    assert search.rows == [0, 1, 2]
    assert cache.sources == []


def test_a_new_row_gets_the_source_as_well() -> None:
    cache, search, rows = rearranged([0, 0, 1, 2])
    assert (cache.targets, cache.sources) == ([(0, 3, 0, 2)], [(0, 3)])
    assert search.rows == [0, 3, 1, 2]
    assert rows.compact() == 4
