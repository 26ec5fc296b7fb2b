"""The step graph computes what the uncached model computes, whatever the rows' age and size."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dragoman.export.certificate import check_reading, check_stepping
from dragoman.export.runner import Floats, Row
from dragoman.export.samples import sample_batches
from tests.export.conftest import Graphs, graphs_of


def uncached(graphs: Graphs, row: Row) -> Floats:
    with torch.no_grad():
        logits = graphs.model(
            torch.tensor([row.source]), torch.tensor([len(row.source)]), torch.tensor([row.target])
        )
    log_probs: Floats = logits.log_softmax(-1)[0].numpy()
    return log_probs


def test_every_step_equals_the_uncached_model(fp32_graphs: Graphs) -> None:
    check = check_stepping(fp32_graphs.model, fp32_graphs.runner())
    assert 0 < check.value <= 2e-5


def test_rows_of_different_age_share_a_batch(fp32_graphs: Graphs) -> None:
    rows = [
        Row((5, 6, 7, 3), (2, 10, 11, 12, 13), start=0),
        Row((9, 3), (2, 20), start=3),
        Row((8,) * 40, (2, 30, 31), start=1),
    ]
    for row, stepped in zip(rows, fp32_graphs.runner().step_through(rows), strict=True):
        np.testing.assert_allclose(stepped.log_probs, uncached(fp32_graphs, row), atol=2e-5)


def test_the_last_legal_position_works_and_the_one_after_it_fails(fp32_graphs: Graphs) -> None:
    most = fp32_graphs.config.max_positions
    row = Row((5, 3), (2, *[7] * (most - 1)))
    stepped = fp32_graphs.runner().step_through([row])[0]
    np.testing.assert_allclose(stepped.log_probs, uncached(fp32_graphs, row), atol=2e-5)
    with pytest.raises(RuntimeError, match="out of data bounds"):
        fp32_graphs.runner().step_through([Row((5, 3), (*row.target, 7))])


def test_candidates_are_the_best_of_all_log_probabilities(graphs: Graphs) -> None:
    rows = next(rows for rows in sample_batches(graphs.config) if len(rows) == 7)
    for stepped in graphs.runner().step_through(rows):
        best = np.argsort(-stepped.log_probs, axis=1, kind="stable")[:, :3]
        assert np.array_equal(stepped.top_log_probs, np.take_along_axis(stepped.log_probs, best, 1))
        assert np.array_equal(
            stepped.top_log_probs, np.take_along_axis(stepped.log_probs, stepped.top_ids, 1)
        )


def test_log_probabilities_are_those_of_a_distribution(graphs: Graphs) -> None:
    stepped = graphs.runner().step_through([Row((5, 6, 3), (2, 9, 8))])[0]
    np.testing.assert_allclose(np.exp(stepped.log_probs).sum(1), 1, atol=1e-5)


def test_scorer_reads_a_target_as_steps_do(graphs: Graphs) -> None:
    bound = {"fp32": 2e-5, "int8": 0.1}[graphs.precision]
    check_reading(graphs.runner(), bound).require()


def test_int8_stays_near_fp32() -> None:
    row = Row((5, 6, 7, 8, 9, 3), (2, 10, 11, 12, 13, 14))
    for norm in ("pre", "post"):
        exact, rounded = (
            graphs_of(f"{norm}-{precision}").runner().step_through([row])[0].log_probs
            for precision in ("fp32", "int8")
        )
        error = np.sqrt(np.square(exact - rounded).mean())
        assert 0 < error < 0.05 * exact.std()
