"""When a beam search ends, and what it gives up before."""

from __future__ import annotations

import math

import pytest

from dragoman.engine import DecodingOptions, FinishReason, Hypothesis, Term
from dragoman.engine.search.finished import Finished, Stopping
from tests.engine.search.test_beam import ALPHAS, beam_of, same, task_of
from tests.engine.search.toy import SIZE, A, TableModel, run
from tests.reference.search import beam_search


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("patience", [0.0, 0.3, 1.0, 1.5])
@pytest.mark.parametrize("margin", [0.0, 0.5, 1.5])
def test_its_best_output_is_that_of_the_reference(
    alpha: float, patience: float, margin: float
) -> None:
    for seed in range(12):
        model = TableModel(SIZE, seed)
        search = beam_of(4, alpha=alpha, kept=1, patience=patience, margin=margin)
        run(search, model)
        expected = beam_search(task_of(model, alpha=alpha), 4, patience, margin)
        [found] = search.hypotheses()
        assert same(found, expected[0]), (seed, found, expected)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("patience", "margin"), [(0.3, 0.0), (1.0, 1.5), (2.0, 0.5), (0.0, 0.3)])
def test_how_many_are_wanted_never_changes_the_best(
    alpha: float, patience: float, margin: float
) -> None:
    for seed in range(12):
        best, model = set(), TableModel(SIZE, seed)
        for kept in range(1, 6):
            search = beam_of(5, alpha=alpha, kept=kept, patience=patience, margin=margin)
            run(search, model)
            found = search.hypotheses()
            scores = [hypothesis.score for hypothesis in found]
            assert scores == sorted(scores, reverse=True)
            assert 1 <= len({hypothesis.token_ids for hypothesis in found}) == len(found) <= kept
            best.add((found[0].token_ids, found[0].log_probabilities))
        assert len(best) == 1


def test_patience_ends_a_search_after_so_many_outputs() -> None:
    even = TableModel(SIZE, 4, scale=0.1)
    steps = []
    for patience in (0.25, 0.5, 1.0, 2.0, 0.0):
        search = beam_of(4, limit=60, alpha=2.0, kept=1, patience=patience)
        steps.append(len(run(search, even)))
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


def test_a_narrow_margin_is_the_greedy_search() -> None:
    for seed in range(20):
        model = TableModel(SIZE, seed)
        search, greedy = beam_of(4, kept=1, margin=1e-9), beam_of(1, kept=1)
        assert set(run(search, model)) == {1}
        run(greedy, model)
        [found], [expected] = search.hypotheses(), greedy.hypotheses()
        assert found.token_ids == expected.token_ids


def test_what_options_mean() -> None:
    default = DecodingOptions(beam_size=4, hypothesis_count=3)
    assert Stopping.of(default) == Stopping(3, 1, 4, 1.5)
    tiny = DecodingOptions(beam_size=4, patience=0.01, pruning_margin=0)
    assert Stopping.of(tiny) == Stopping(1, 1, 1, math.inf)
    exact = DecodingOptions(beam_size=4, hypothesis_count=3, patience=0, pruning_margin=0)
    assert Stopping.of(exact) == Stopping(3, 3, math.inf, math.inf)
    assert not Stopping.of(exact).fills_up
    terms = DecodingOptions(beam_size=4, hypothesis_count=3, terms=(Term(((A,),)),))
    assert Stopping.of(terms) == Stopping(4, 4, 4, math.inf)


def outcome(score: float, *tokens: int) -> Hypothesis:
    return Hypothesis(tokens, (score,), FinishReason.STOP, score)


def test_no_other_output_comes_before_the_best_that_leads() -> None:
    finished = Finished(Stopping(3, 1, 2))
    finished.add(outcome(-1.0, 1), leads=False)
    finished.add(outcome(-2.0, 2), leads=True)
    finished.add(outcome(-3.0, 3), leads=False)
    assert [found.score for found in finished.listed()] == [-2.0, -3.0]
    assert (finished.to_beat(leads=True), finished.to_beat(leads=False)) == (-2.0, None)
    before = finished.enough, finished.complete
    finished.add(outcome(-4.0, 4), leads=True)
    assert before == (False, False)
    assert (finished.enough, finished.complete) == (True, True)
    assert [found.score for found in finished.listed()] == [-2.0, -3.0, -4.0]
