"""Active rows stay a prefix, and a moved row takes all that is alive with it."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dragoman.engine.cache import Cache, CacheShape
from dragoman.engine.rows import Rows
from dragoman.engine.search import Search, Step
from dragoman.engine.sessions import StepInput

BOS = 2
SHAPE = CacheShape(layers=1, rows=6, heads=2, head_size=2, target_capacity=32, source_capacity=32)


class Idle(Search):
    """A search that only holds rows."""

    __slots__ = ("mark", "source_length", "steps")

    def __init__(self, mark: int, width: int, source_length: int) -> None:
        super().__init__(width, candidates=1, all_log_probs=False)
        self.mark = mark
        self.source_length = source_length
        self.steps = 0

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

    @property
    def used(self) -> int:
        return sum(search.width for search in self.searches)

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
        """Write each search's mark at the next position of its rows, as the graph would."""
        active = self.rows.compact()
        assert active == self.used
        if any(search.steps >= SHAPE.target_capacity for search in self.searches):
            return
        tokens = [0] * active
        for search in self.searches:
            for row in search.rows:
                assert self.input.length[row] == search.steps
                self.cache.target[:, :, row, :, search.steps] = search.mark
                tokens[row] = search.mark
            search.steps += 1
        self.rows.feed(tokens)

    @invariant()
    def every_search_finds_its_own(self) -> None:
        taken = [row for search in self.searches for row in search.rows]
        assert len(taken) == len(set(taken)) == self.used
        assert self.rows.created - self.rows.released == self.used
        for search in self.searches:
            for row in search.rows:
                self._check(search, row)

    def _check(self, search: Idle, row: int) -> None:
        assert self.input.source_length[row] == search.source_length
        assert self.input.length[row] == search.steps
        assert self.input.token[row] == (search.mark if search.steps else BOS)
        assert (self.cache.source[:, :, row, :, : search.source_length] == search.mark).all()
        assert (self.cache.target[:, :, row, :, : search.steps] == search.mark).all()


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


def test_clearing_zeroes_the_rows_of_one_search() -> None:
    rows, cache, searches = rows_and_searches(2)
    rows.clear(searches[0])
    assert not cache.source[:, :, 0].any()
    assert cache.source[:, :, 1].any()
