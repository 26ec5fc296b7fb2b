"""One output by the rules of its request, against the slow reference on models that are tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dragoman.engine import DecodingOptions, FinishReason, Prefix, SamplingOptions
from dragoman.engine.search import Greedy, LengthPenalty, Rules, Single, Vocabulary
from dragoman.engine.search.sampling import Sampler
from tests.engine.search.toy import (
    EOS,
    OTHER_WORD,
    SIZE,
    VOCABULARY,
    WORD,
    A,
    B,
    TableModel,
    distribution,
    run,
    step_of,
)
from tests.reference import rules as reference
from tests.reference.search import Task, greedy_search

LIMIT = 8


def single(
    prefix: Prefix, *, alternative: int | None = None, limit: int = LIMIT, **options: Any
) -> Single:
    chosen = DecodingOptions(**options)
    rules = Rules(VOCABULARY, prefix, limit, chosen)
    return Single(rules, LengthPenalty(0.6, limit), None, alternative=alternative)


CASES: list[tuple[dict[str, Any], reference.Adjust]] = [
    ({"repetition_penalty": 3.0}, reference.repetition_penalty(3.0)),
    ({"repetition_penalty": 0.2}, reference.repetition_penalty(0.2)),
    ({"no_repeat_ngram_size": 1}, reference.no_repeat_ngram(1)),
    ({"no_repeat_ngram_size": 2}, reference.no_repeat_ngram(2)),
    ({"no_repeat_ngram_size": 3}, reference.no_repeat_ngram(3)),
    ({"min_output_tokens": 5}, reference.minimum_length(5, EOS)),
    ({"suppressed_ids": (A, WORD)}, reference.suppress((A, WORD))),
    ({"suppressed_ids": (EOS,)}, reference.suppress((EOS,))),
]


@pytest.mark.parametrize(("options", "adjust"), CASES)
@pytest.mark.parametrize("prefix", [(), (A, B, A)])
def test_rules(options: dict[str, Any], adjust: reference.Adjust, prefix: tuple[int, ...]) -> None:
    for seed in range(20):
        model = TableModel(SIZE, seed, scale=1.0)
        search = single(Prefix(prefix), **options)
        run(search, model)
        [found] = search.hypotheses()
        task = Task(model.torch, EOS, VOCABULARY.never, LIMIT, 0.6, prefix, adjust)
        expected = greedy_search(task)
        assert found.token_ids == expected.tokens
        assert found.log_probabilities == expected.log_probs
        assert found.score == pytest.approx(expected.score, rel=1e-6)
        assert (found.finish_reason is FinishReason.STOP) == expected.ends


def test_without_rules_it_is_the_greedy_search() -> None:
    for seed in range(20):
        for prefix in (Prefix(), Prefix((A, B)), Prefix((A,), starts_new_word=True)):
            model = TableModel(SIZE, seed)
            search = single(prefix)
            greedy = Greedy(VOCABULARY, prefix, LengthPenalty(0.6, LIMIT))
            run(search, model)
            run(greedy, model)
            [found], [expected] = search.hypotheses(), greedy.hypotheses()
            assert found.score == pytest.approx(expected.score, rel=1e-12)
            assert found.token_ids == expected.token_ids
            assert found.log_probabilities == expected.log_probabilities
            assert found.finish_reason is expected.finish_reason
            assert search.chosen == greedy.chosen


def test_a_minimum_length_is_the_same_in_both() -> None:
    for seed in range(20):
        model = TableModel(SIZE, seed)
        search = single(Prefix((A,)), min_output_tokens=6)
        greedy = Greedy(VOCABULARY, Prefix((A,)), LengthPenalty(0.6, LIMIT), 6)
        run(search, model)
        run(greedy, model)
        assert search.hypotheses()[0].token_ids == greedy.hypotheses()[0].token_ids
        assert len(search.hypotheses()[0].log_probabilities) >= 6


@pytest.mark.parametrize("bias", [0.0, 0.4, 0.99])
def test_a_prefix_bias(bias: float) -> None:
    prefix = (A, B, A)
    for seed in range(20):
        model = TableModel(SIZE, seed)
        search = single(Prefix(prefix), prefix_bias=bias)
        run(search, model)
        adjust = reference.prefix_bias(prefix, bias)
        task = Task(model.torch, EOS, VOCABULARY.never, LIMIT, adjust=adjust)
        expected = greedy_search(task)
        assert search.hypotheses()[0].token_ids == expected.tokens
        assert search.hypotheses()[0].score == pytest.approx(expected.score, rel=1e-5)


def test_log_probabilities_stay_the_models_own() -> None:
    row = distribution(A=3, B=1)
    search = single(Prefix((A,)), repetition_penalty=10.0)
    search.rows = [0]
    search.advance(step_of(distribution(A=3)))
    search.advance(step_of(row))
    tokens, values = search.take_committed()
    assert tokens == (A, B)
    assert values[1] == float(row[B])


def test_an_output_ends_where_no_token_is_allowed() -> None:
    search = single(Prefix(), no_repeat_ngram_size=1, suppressed_ids=(EOS, WORD, OTHER_WORD))
    run(search, TableModel(SIZE, 1))
    [found] = search.hypotheses()
    assert sorted(found.token_ids) == [A, B]
    assert found.finish_reason is FinishReason.LENGTH


def test_an_alternative_is_the_token_of_its_rank() -> None:
    row = distribution(A=1, B=4, WORD=2, UNK=9)
    for rank, token in enumerate((B, WORD, A)):
        search = single(Prefix((A,)), alternative=rank)
        search.rows = [0]
        search.advance(step_of(distribution(A=1)))
        step = step_of(row)
        search.advance(step)
        assert step.next_ids == [token]
        assert search.take_committed()[1][1] == float(row[token])


def test_an_alternative_that_is_not_there_has_no_outcome() -> None:
    for prefix in (Prefix(), Prefix((), starts_new_word=True)):
        search = single(prefix, alternative=5)
        run(search, TableModel(SIZE, 0))
        assert search.hypotheses() == []


def test_an_alternative_may_be_the_end() -> None:
    outcomes = []
    for rank in range(5):
        search = single(Prefix((A,)), alternative=rank)
        run(search, TableModel(SIZE, 0))
        outcomes += [(h.token_ids, h.finish_reason) for h in search.hypotheses()]
    assert len(outcomes) == 5
    assert outcomes.count(((A,), FinishReason.STOP)) == 1


def test_whole_rows_are_wanted_only_where_they_are_read() -> None:
    big = Vocabulary(1000, 2, EOS, VOCABULARY.never, np.array([WORD]))
    plain = Rules(big, Prefix(), LIMIT, DecodingOptions())
    many = Rules(big, Prefix(), LIMIT, DecodingOptions(suppressed_ids=tuple(range(200))))
    few = Rules(big, Prefix(), LIMIT, DecodingOptions(suppressed_ids=tuple(range(50))))
    changed = Rules(big, Prefix(), LIMIT, DecodingOptions(repetition_penalty=2.0))
    wanted = [
        (search.all_log_probs, search.candidates)
        for search in (
            Single(r, LengthPenalty(0, LIMIT), None) for r in (plain, few, many, changed)
        )
    ]
    assert wanted == [(False, 5), (False, 51), (True, 1), (True, 1)]


def sampled(model: TableModel, options: SamplingOptions, index: int = 0, extra: int = 0) -> Single:
    rules = Rules(VOCABULARY, Prefix(), LIMIT, DecodingOptions(sampling=options))
    sampler = Sampler(options, index)
    search = Single(rules, LengthPenalty(0.6, LIMIT), sampler, top_k=options.top_k)
    run(search, model, extra)
    return search


def test_a_sample_depends_on_its_seed_and_index_alone() -> None:
    model = TableModel(SIZE, 0, scale=0.5)
    for top_k in (0, 3):
        options = SamplingOptions(top_k=top_k, seed=5)
        outcomes = {
            (seed, index): sampled(model, SamplingOptions(top_k=top_k, seed=seed), index)
            .hypotheses()[0]
            .token_ids
            for seed in (5, 6, -1)
            for index in range(3)
        }
        assert len(set(outcomes.values())) > 5
        assert sampled(model, options, 1, extra=3).hypotheses()[0].token_ids == outcomes[5, 1]


def test_a_sample_of_one_candidate_is_the_greedy_search() -> None:
    for seed in range(20):
        model = TableModel(SIZE, seed)
        greedy = single(Prefix())
        run(greedy, model)
        for options in (
            SamplingOptions(top_k=1),
            SamplingOptions(top_p=1e-9),
            SamplingOptions(min_p=0.999999),
        ):
            assert sampled(model, options).hypotheses() == greedy.hypotheses()
