"""Beam search against searches written apart from it, on models that are tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from dragoman.engine import DecodingOptions, FinishReason, Hypothesis, Prefix
from dragoman.engine.search import Beam, Greedy, LengthPenalty, Rules, Step, Vocabulary
from dragoman.engine.search.finished import Stopping
from tests.engine.search.toy import (
    EOS,
    SIZE,
    VOCABULARY,
    A,
    B,
    TableModel,
    distribution,
    run,
    step_of,
)
from tests.reference.search import Output, Task, beam_search, exhaustive_search

ALPHAS = [-1.0, 0.0, 0.6, 1.0, 2.0]
NEVER = VOCABULARY.never
SMALL = Vocabulary(6, 2, EOS, NEVER, np.array([A], np.int64))


def beam_of(
    size: int,
    *,
    alpha: float = 0.6,
    limit: int = 8,
    kept: int | None = None,
    prefix: tuple[int, ...] = (),
    vocabulary: Vocabulary = VOCABULARY,
    patience: float = 0.0,
    margin: float = 0.0,
) -> Beam:
    """By default a search that ends only where nothing better can be found."""
    options = DecodingOptions(
        beam_size=size,
        hypothesis_count=kept or size,
        patience=patience,
        pruning_margin=margin,
    )
    rules = Rules(vocabulary, Prefix(prefix), limit, options)
    return Beam(rules, LengthPenalty(alpha, limit), size, Stopping.of(options))


def task_of(
    model: TableModel, *, alpha: float = 0.6, limit: int = 8, prefix: tuple[int, ...] = ()
) -> Task:
    return Task(model.torch, EOS, NEVER, limit, alpha, prefix)


def same(hypothesis: Hypothesis, output: Output) -> bool:
    reason = FinishReason.STOP if output.ends else FinishReason.LENGTH
    return (
        hypothesis.token_ids == output.tokens
        and hypothesis.log_probabilities == output.log_probs
        and hypothesis.finish_reason is reason
        and hypothesis.score == pytest.approx(output.score, rel=1e-12)
    )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("size", [2, 3, 4, 16])
def test_it_finds_what_the_reference_finds(alpha: float, size: int) -> None:
    for seed in range(25):
        model = TableModel(SIZE, seed)
        search = beam_of(size, alpha=alpha)
        run(search, model)
        expected = beam_search(task_of(model, alpha=alpha), size)[:size]
        found = search.hypotheses()
        assert len(found) == size
        assert all(map(same, found, expected)), (seed, found, expected)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_beam_that_holds_every_prefix_searches_exhaustively(alpha: float) -> None:
    for seed in range(25):
        model = TableModel(6, seed, scale=1.0)
        search = beam_of(16, alpha=alpha, limit=4, vocabulary=SMALL)
        run(search, model)
        expected = exhaustive_search(task_of(model, alpha=alpha, limit=4))
        found = search.hypotheses()
        assert len(expected) == 30
        assert len(found) == 16
        assert all(map(same, found, expected)), (seed, found, expected)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_more_hypotheses_never_change_the_first_ones(alpha: float) -> None:
    for seed in range(20):
        lists = []
        for kept in range(1, 6):
            search = beam_of(5, alpha=alpha, kept=kept)
            run(search, TableModel(SIZE, seed))
            lists.append(search.hypotheses())
        for shorter, longer in itertools.pairwise(lists):
            assert longer[: len(shorter)] == shorter


def test_hypotheses_are_sorted_and_distinct() -> None:
    for seed in range(20):
        search = beam_of(6)
        run(search, TableModel(SIZE, seed))
        scores = [hypothesis.score for hypothesis in search.hypotheses()]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.token_ids for hypothesis in search.hypotheses()}) == 6


def test_nothing_follows_the_end_of_a_sentence() -> None:
    for seed in range(20):
        search = beam_of(4)
        run(search, TableModel(SIZE, seed))
        for hypothesis in search.hypotheses():
            assert EOS not in hypothesis.token_ids
            assert not NEVER.intersection(hypothesis.token_ids)
            ended = hypothesis.finish_reason is FinishReason.STOP
            assert len(hypothesis.log_probabilities) == len(hypothesis.token_ids) + ended


def test_the_score_is_the_sum_over_the_stated_penalty() -> None:
    search = beam_of(3, alpha=0.7)
    run(search, TableModel(SIZE, 1))
    for hypothesis in search.hypotheses():
        length = len(hypothesis.log_probabilities)
        expected = hypothesis.log_probability / ((5 + length) / 6) ** 0.7
        assert hypothesis.score == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("prefix", [(A,), (B, A, A), (A, B, A, B, A, B, A)])
def test_a_forced_prefix_takes_one_row(prefix: tuple[int, ...]) -> None:
    for seed in range(20):
        model = TableModel(SIZE, seed)
        search = beam_of(4, prefix=prefix)
        counts = run(search, model)
        assert counts[: len(prefix) + 1] == [1] * (len(prefix) + 1)
        expected = beam_search(task_of(model, prefix=prefix), 4)[:4]
        assert all(map(same, search.hypotheses(), expected))
        for hypothesis in search.hypotheses():
            assert hypothesis.token_ids[: len(prefix)] == prefix


def test_the_best_output_goes_beyond_the_prefix_unless_the_end_wins() -> None:
    rows = {
        (A,): distribution(B=4, EOS=2),
        (A, B): distribution(EOS=9),
    }

    class Likely(TableModel):
        def __call__(self, tokens: tuple[int, ...]) -> np.ndarray:
            return rows.get(tokens, distribution()).astype(np.float32)

    for size in (2, 5, 6, 16):
        search = beam_of(size, prefix=(A,), alpha=0.6)
        run(search, Likely(SIZE, 0))
        assert search.hypotheses()[0].token_ids == (A, B)
        assert search.hypotheses()[0].finish_reason is FinishReason.STOP
    rows[(A,)] = distribution(EOS=9)
    for size in (2, 5, 6, 16):
        search = beam_of(size, prefix=(A,), alpha=0.6)
        run(search, Likely(SIZE, 0))
        assert search.hypotheses()[0].token_ids == (A,)


@pytest.mark.parametrize("size", [2, 4])
def test_finish_reasons_are_right_around_the_natural_length(size: int) -> None:
    class Natural(TableModel):
        def __call__(self, tokens: tuple[int, ...]) -> np.ndarray:
            row = distribution(EOS=12) if len(tokens) >= 3 else distribution(A=12, EOS=-12)
            return row.astype(np.float32)

    for limit, reason in ((3, "LENGTH"), (4, "STOP"), (5, "STOP")):
        search = beam_of(size, limit=limit)
        run(search, Natural(SIZE, 0))
        best = search.hypotheses()[0]
        assert best.token_ids == (A, A, A)
        assert best.finish_reason.name == reason
        assert len(best.log_probabilities) == min(limit, 4)


def test_more_candidates_for_a_neighbour_change_nothing() -> None:
    for seed in range(20):
        outcomes = []
        for extra in (0, 1, SIZE):
            search = beam_of(2, vocabulary=Vocabulary(30, 2, EOS, NEVER, np.array([A])))
            assert search.candidates < 30
            run(search, TableModel(30, seed), extra)
            outcomes.append(search.hypotheses())
        assert outcomes[0] == outcomes[1] == outcomes[2]


def test_outputs_that_can_not_win_cost_no_row() -> None:
    sharp, counts = TableModel(SIZE, 3, scale=8.0), []
    for kept in (1, 4):
        search = beam_of(4, kept=kept, alpha=0.0)
        counts.append(run(search, sharp))
    assert sum(counts[0]) < sum(counts[1])
    assert len(counts[0]) <= len(counts[1])


def test_equal_totals_are_decided_by_the_order_of_outputs_and_ids() -> None:
    even = np.full(SIZE, -np.log(SIZE), np.float32)
    search = beam_of(2, limit=2, alpha=0.0)
    search.rows = [0]
    step = step_of(even)
    assert not search.advance(step)
    assert (search.parents, search.parent_ids) == ([0, 0], [A, B])


def test_rows_that_go_on_by_themselves_are_fed_directly() -> None:
    search = beam_of(2)
    search.rows = [0]
    search.advance(step_of(distribution(A=5, B=5)))
    search.rows, search.parents = [1, 0], None
    step: Step = step_of(distribution(B=9), distribution(A=9))
    search.advance(step)
    assert search.parents is None
    assert step.next_ids == [B, A]


def test_what_is_committed_is_never_taken_back() -> None:
    for seed in range(30):
        for alpha in ALPHAS:
            patience, margin = (seed % 2) * 1.0, (seed % 5 > 2) * 1.0
            kept = 1 + seed % 3
            search = beam_of(3, alpha=alpha, kept=kept, patience=patience, margin=margin)
            model = TableModel(SIZE, seed, scale=3.0)
            ids, values = stream(search, model)
            best = search.hypotheses()[0]
            assert ids == best.token_ids
            assert values == best.log_probabilities[: len(ids)]


def stream(
    search: Beam, model: TableModel, cut_after: int = 1000
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """What is committed in all, with rows as in `run`."""
    ids: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    histories: list[tuple[int, ...]] = [()]
    search.rows = [0]
    while True:
        step = step_of(*[model(history) for history in histories])
        done = search.advance(step)
        cut_after -= 1
        if not done and cut_after == 0:
            search.cut()
            done = True
        more = search.take_committed()
        ids, values = ids + more[0], values + more[1]
        if done:
            return ids, values
        parents = search.parents if search.parents is not None else range(len(histories))
        tokens = step.next_ids if search.parents is None else search.parent_ids
        histories = [(*histories[p], token) for p, token in zip(parents, tokens, strict=True)]
        search.rows, search.parents = list(range(len(histories))), None


@pytest.mark.parametrize("cut_after", [1, 2, 3, 5])
def test_the_best_so_far_begins_with_what_was_committed(cut_after: int) -> None:
    for seed in range(30):
        for alpha in ALPHAS:
            search = beam_of(3, alpha=alpha)
            ids, values = stream(search, TableModel(SIZE, seed, scale=3.0), cut_after)
            best = search.hypotheses()[0]
            assert ids == best.token_ids
            assert values == best.log_probabilities[: len(ids)]
            scores = [hypothesis.score for hypothesis in search.hypotheses()]
            assert scores == sorted(scores, reverse=True)


def test_a_cut_search_says_so() -> None:
    search = beam_of(2)
    search.rows = [0]
    search.advance(step_of(distribution(A=5, B=5)))
    search.cut()
    assert [hypothesis.finish_reason for hypothesis in search.hypotheses()] == [
        FinishReason.DEADLINE
    ] * 2


def test_a_beam_of_one_is_the_greedy_search() -> None:
    for seed in range(25):
        model = TableModel(SIZE, seed)
        greedy = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 8))
        run(greedy, model)
        [found] = greedy.hypotheses()
        tokens: tuple[int, ...] = ()
        while len(tokens) < 8:
            row = torch.from_numpy(model(tokens).copy())
            row[list(NEVER if tokens else NEVER | {EOS})] = -torch.inf
            if int(row.argmax()) == EOS:
                break
            tokens = (*tokens, int(row.argmax()))
        assert found.token_ids == tokens
