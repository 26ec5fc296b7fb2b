"""What the greedy search chooses, step by step, on distributions made by hand."""

from __future__ import annotations

import math

import pytest

from dragoman.engine import FinishReason, Hypothesis, Prefix
from dragoman.engine.search import Greedy, LengthPenalty
from tests.engine.search.toy import (
    EOS,
    OTHER_WORD,
    VOCABULARY,
    WORD,
    A,
    B,
    decode,
    distribution,
    step_of,
)


def test_greedy_takes_the_best_until_the_end_of_the_sentence() -> None:
    search = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 10))
    first, second, third = distribution(A=3), distribution(B=3), distribution(EOS=2)
    assert decode(search, first, second, third) == [A, B]
    values = (float(first[A]), float(second[B]), float(third[EOS]))
    assert search.hypotheses()[0] == Hypothesis(
        (A, B), values, FinishReason.STOP, math.fsum(values) / (8 / 6) ** 0.6
    )
    assert search.hypotheses()[0].log_probability == math.fsum(values)
    assert search.chosen == 3


@pytest.mark.parametrize(
    ("limit", "tokens", "reason"),
    [
        (1, (A,), FinishReason.LENGTH),
        (2, (A, B), FinishReason.LENGTH),
        (3, (A, B), FinishReason.STOP),
        (4, (A, B), FinishReason.STOP),
    ],
)
def test_the_finish_reason_is_right_around_the_natural_length(
    limit: int, tokens: tuple[int, ...], reason: FinishReason
) -> None:
    rows = [distribution(A=3), distribution(B=3), distribution(EOS=3)]
    search = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, limit))
    decode(search, *rows[: min(limit, 3)])
    assert (search.hypotheses()[0].token_ids, search.finish_reason) == (tokens, reason)


def test_an_output_is_never_empty() -> None:
    search = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 10))
    first = distribution(EOS=9, UNK=8, PAD=7, BOS=6, A=5)
    assert decode(search, first, distribution(EOS=2)) == [A]
    assert search.hypotheses()[0].log_probabilities[0] == float(first[A])


def test_control_tokens_are_never_chosen() -> None:
    search = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 2))
    decode(search, distribution(A=3), distribution(UNK=9, PAD=8, BOS=7, B=6))
    assert search.hypotheses()[0].token_ids == (A, B)


def test_the_excluded_tokens_never_exhaust_the_candidates() -> None:
    search = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 2))
    search.rows = [0]
    row = distribution(EOS=9, UNK=8, PAD=7, BOS=6, A=5)
    step = step_of(row, k=search.candidates)
    search.advance(step)
    assert step.next_ids == [A]


def test_equal_tokens_are_decided_by_the_lowest_id() -> None:
    search = Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 1))
    decode(search, distribution(A=3, B=3))
    assert search.hypotheses()[0].token_ids == (A,)


def test_a_prefix_is_forced_with_the_models_own_log_probabilities() -> None:
    search = Greedy(VOCABULARY, Prefix((B, A)), LengthPenalty(0.6, 10))
    rows = [distribution(A=5), distribution(EOS=5), distribution(WORD=5), distribution(EOS=5)]
    assert decode(search, *rows) == [B, A, WORD]
    hypothesis = search.hypotheses()[0]
    assert hypothesis.token_ids == (B, A, WORD)
    assert hypothesis.log_probabilities[:2] == (float(rows[0][B]), float(rows[1][A]))
    assert search.chosen == 2


def test_the_end_may_follow_a_prefix_where_it_truly_wins() -> None:
    search = Greedy(VOCABULARY, Prefix((A,)), LengthPenalty(0.6, 10))
    decode(search, distribution(B=5), distribution(EOS=5))
    assert search.hypotheses()[0].token_ids == (A,)
    assert search.finish_reason is FinishReason.STOP


def test_a_new_word_begins_with_the_best_piece_that_may() -> None:
    search = Greedy(VOCABULARY, Prefix((A,), starts_new_word=True), LengthPenalty(0.6, 3))
    second = distribution(EOS=9, B=8, OTHER_WORD=2, WORD=1)
    decode(search, distribution(B=5), second, distribution(B=5))
    hypothesis = search.hypotheses()[0]
    assert hypothesis.token_ids == (A, OTHER_WORD, B)
    assert hypothesis.log_probabilities[1] == float(second[OTHER_WORD])


def test_all_log_probabilities_are_wanted_only_where_they_are_read() -> None:
    search = Greedy(VOCABULARY, Prefix((A, B), starts_new_word=True), LengthPenalty(0.6, 5))
    search.rows = [0]
    wanted = []
    for _ in range(4):
        wanted.append(search.all_log_probs)
        search.advance(step_of(distribution(A=1)))
    assert wanted == [True, True, True, False]


def test_committed_tokens_are_given_once() -> None:
    search = Greedy(VOCABULARY, Prefix((A,)), LengthPenalty(0.6, 3))
    search.rows = [0]
    assert search.take_committed() == ((), ())
    first, second = distribution(A=1), distribution(B=2)
    search.advance(step_of(first))
    search.advance(step_of(second))
    assert search.take_committed() == ((A, B), (float(first[A]), float(second[B])))
    search.advance(step_of(distribution(EOS=3)))
    assert search.take_committed() == ((), ())


def test_a_row_reads_its_own_results_only() -> None:
    searches = [Greedy(VOCABULARY, Prefix(), LengthPenalty(0.6, 5)) for _ in range(2)]
    searches[0].rows, searches[1].rows = [1], [0]
    step = step_of(distribution(A=3), distribution(B=3))
    for search in searches:
        search.advance(step)
    assert step.next_ids == [A, B]
    assert [search.hypotheses()[0].token_ids for search in searches] == [(B,), (A,)]
