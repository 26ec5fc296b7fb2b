"""A row's numbers are its own: no neighbour, padding or thread count changes a bit of them."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.export.certificate import check_independence
from dragoman.export.runner import Row
from tests.export.conftest import Graphs

SOURCES = [(5, 6, 7, 3), (9,), (8,) * 65, (10, 3), (11,) * 129, (12,) * 64]


def test_rows_in_company_equal_rows_alone(graphs: Graphs) -> None:
    assert check_independence(graphs.runner(1), graphs.runner(2)).value == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_encoder_ignores_neighbours_and_padding(graphs: Graphs, threads: int) -> None:
    runner = graphs.runner(threads)
    together = runner.encode(SOURCES)
    for index, source in enumerate(SOURCES):
        alone = runner.encode([source])[:, :, 0]
        assert np.array_equal(together[:, :, index, :, : len(source)], alone)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 31])
def test_steps_ignore_the_size_of_the_batch(graphs: Graphs, size: int) -> None:
    runner = graphs.runner()
    probe = Row((5, 6, 7, 3), (2, 20, 21, 22))
    company = [Row(SOURCES[i % 6], (2, *range(4, 4 + i)), start=i % 5) for i in range(1, size)]
    alone = runner.step_through([probe])[0]
    for position in (0, size // 2, size - 1):
        rows = [*company[:position], probe, *company[position:]]
        assert runner.step_through(rows)[position].equals(alone)


def test_one_token_sources_and_targets_do_not_care(graphs: Graphs) -> None:
    runner = graphs.runner()
    shortest, other = Row((7,), (2,)), Row((8,) * 30, (2, *[9] * 30))
    alone = runner.step_through([shortest])[0]
    assert runner.step_through([shortest, other])[0].equals(alone)
    assert runner.step_through([other, shortest])[1].equals(alone)


def test_what_a_cache_held_before_does_not_matter(graphs: Graphs) -> None:
    rows = [Row((5, 3), (2, 9, 8, 7)), Row((6, 7, 3), (2,), start=2)]
    stepped = graphs.runner().step_through(rows)
    assert all(np.isfinite(each.log_probs).all() for each in stepped)
