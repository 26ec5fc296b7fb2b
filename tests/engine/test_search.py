"""What the searches choose, step by step, on distributions made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from dragoman.engine import Candidate, FinishReason, Hypothesis, Prefix
from dragoman.engine.search import Greedy, Prediction, Search, Step, Vocabulary
from dragoman.engine.search.prediction import best_places, entropy, rank
from dragoman.engine.sessions import StepOutput

PAD, UNK, BOS, EOS = 0, 1, 2, 3
A, B, WORD, OTHER_WORD = 4, 5, 6, 7
SIZE = 8
VOCABULARY = Vocabulary(
    SIZE, BOS, EOS, frozenset((PAD, UNK, BOS)), np.array([WORD, OTHER_WORD], np.int64)
)


def distribution(**logits: float) -> np.ndarray:
    """Log-probabilities in which the named tokens stand out."""
    values = np.zeros(SIZE, np.float32)
    for name, logit in logits.items():
        values[globals()[name]] = logit
    return np.asarray(values - np.log(np.exp(values).sum()), np.float32)


def step_of(*rows: np.ndarray, k: int = SIZE) -> Step:
    log_probs = np.stack(rows).astype(np.float32)
    ids = np.argsort(-log_probs, axis=1, kind="stable")[:, :k]
    return Step(StepOutput(ids, np.take_along_axis(log_probs, ids, axis=1), log_probs))


def decode(search: Search, *rows: np.ndarray) -> list[int]:
    """Feed rows until the search is over; give what it wanted fed."""
    search.rows = [0]
    fed: list[int] = []
    for index, row in enumerate(rows):
        step = step_of(row)
        done = search.advance(step)
        assert done == (index == len(rows) - 1)
        if not done:
            fed.append(step.next_ids[0])
    return fed


def test_greedy_takes_the_best_until_the_end_of_the_sentence() -> None:
    search = Greedy(VOCABULARY, Prefix(), limit=10)
    first, second, third = distribution(A=3), distribution(B=3), distribution(EOS=2)
    assert decode(search, first, second, third) == [A, B]
    values = (float(first[A]), float(second[B]), float(third[EOS]))
    assert search.hypothesis() == Hypothesis((A, B), values, FinishReason.STOP)
    assert search.hypothesis().log_probability == math.fsum(values)
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
    search = Greedy(VOCABULARY, Prefix(), limit)
    decode(search, *rows[: min(limit, 3)])
    assert (search.hypothesis().token_ids, search.finish_reason) == (tokens, reason)


def test_an_output_is_never_empty() -> None:
    search = Greedy(VOCABULARY, Prefix(), limit=10)
    first = distribution(EOS=9, UNK=8, PAD=7, BOS=6, A=5)
    assert decode(search, first, distribution(EOS=2)) == [A]
    assert search.hypothesis().log_probabilities[0] == float(first[A])


def test_control_tokens_are_never_chosen() -> None:
    search = Greedy(VOCABULARY, Prefix(), limit=2)
    decode(search, distribution(A=3), distribution(UNK=9, PAD=8, BOS=7, B=6))
    assert search.hypothesis().token_ids == (A, B)


def test_the_excluded_tokens_never_exhaust_the_candidates() -> None:
    search = Greedy(VOCABULARY, Prefix(), limit=2)
    search.rows = [0]
    row = distribution(EOS=9, UNK=8, PAD=7, BOS=6, A=5)
    step = step_of(row, k=search.candidates)
    search.advance(step)
    assert step.next_ids == [A]


def test_equal_tokens_are_decided_by_the_lowest_id() -> None:
    search = Greedy(VOCABULARY, Prefix(), limit=1)
    decode(search, distribution(A=3, B=3))
    assert search.hypothesis().token_ids == (A,)


def test_a_prefix_is_forced_with_the_models_own_log_probabilities() -> None:
    search = Greedy(VOCABULARY, Prefix((B, A)), limit=10)
    rows = [distribution(A=5), distribution(EOS=5), distribution(WORD=5), distribution(EOS=5)]
    assert decode(search, *rows) == [B, A, WORD]
    hypothesis = search.hypothesis()
    assert hypothesis.token_ids == (B, A, WORD)
    assert hypothesis.log_probabilities[:2] == (float(rows[0][B]), float(rows[1][A]))
    assert search.chosen == 2


def test_the_end_may_follow_a_prefix_where_it_truly_wins() -> None:
    search = Greedy(VOCABULARY, Prefix((A,)), limit=10)
    decode(search, distribution(B=5), distribution(EOS=5))
    assert search.hypothesis().token_ids == (A,)
    assert search.finish_reason is FinishReason.STOP


def test_a_new_word_begins_with_the_best_piece_that_may() -> None:
    search = Greedy(VOCABULARY, Prefix((A,), starts_new_word=True), limit=3)
    second = distribution(EOS=9, B=8, OTHER_WORD=2, WORD=1)
    decode(search, distribution(B=5), second, distribution(B=5))
    hypothesis = search.hypothesis()
    assert hypothesis.token_ids == (A, OTHER_WORD, B)
    assert hypothesis.log_probabilities[1] == float(second[OTHER_WORD])


def test_all_log_probabilities_are_wanted_only_where_they_are_read() -> None:
    search = Greedy(VOCABULARY, Prefix((A, B), starts_new_word=True), limit=5)
    search.rows = [0]
    wanted = []
    for _ in range(4):
        wanted.append(search.all_log_probs)
        search.advance(step_of(distribution(A=1)))
    assert wanted == [True, True, True, False]


def test_committed_tokens_are_given_once() -> None:
    search = Greedy(VOCABULARY, Prefix((A,)), limit=3)
    search.rows = [0]
    assert search.take_committed() == ((), ())
    first, second = distribution(A=1), distribution(B=2)
    search.advance(step_of(first))
    search.advance(step_of(second))
    assert search.take_committed() == ((A, B), (float(first[A]), float(second[B])))
    search.advance(step_of(distribution(EOS=3)))
    assert search.take_committed() == ((), ())


def test_a_row_reads_its_own_results_only() -> None:
    searches = [Greedy(VOCABULARY, Prefix(), limit=5) for _ in range(2)]
    searches[0].rows, searches[1].rows = [1], [0]
    step = step_of(distribution(A=3), distribution(B=3))
    for search in searches:
        search.advance(step)
    assert step.next_ids == [A, B]
    assert [search.hypothesis().token_ids for search in searches] == [(B,), (A,)]


def test_a_prediction_reads_the_distribution_after_its_prefix() -> None:
    search = Prediction(VOCABULARY, Prefix((A, B)), top_k=3, queried=(WORD, EOS, PAD))
    last = distribution(EOS=4, WORD=3, A=2)
    assert not search.all_log_probs
    assert decode(search, distribution(B=1), distribution(B=1), last) == [A, B]
    prediction = search.prediction()
    assert [candidate.token_id for candidate in prediction.candidates] == [EOS, WORD, A]
    assert prediction.candidates[0] == Candidate(EOS, float(last[EOS]))
    assert [(token.token_id, token.rank) for token in prediction.queried] == [
        (WORD, 2),
        (EOS, 1),
        (PAD, 4),
    ]
    assert prediction.entropy == entropy(last)


def test_a_prediction_without_prefix_takes_one_step() -> None:
    search = Prediction(VOCABULARY, Prefix(), top_k=1, queried=())
    assert search.all_log_probs
    assert decode(search, distribution(B=1)) == []
    assert [candidate.token_id for candidate in search.prediction().candidates] == [B]


def test_a_prediction_of_a_new_word_lists_pieces_that_may_start_it() -> None:
    search = Prediction(VOCABULARY, Prefix((), starts_new_word=True), top_k=5, queried=(EOS,))
    row = distribution(EOS=4, WORD=1, OTHER_WORD=2)
    decode(search, row)
    prediction = search.prediction()
    assert prediction.candidates == (
        Candidate(OTHER_WORD, float(row[OTHER_WORD])),
        Candidate(WORD, float(row[WORD])),
    )
    assert prediction.queried[0].rank == 1


def test_more_candidates_for_a_neighbour_change_nothing() -> None:
    row = distribution(EOS=4, WORD=3, A=2)
    for k in (3, 5, SIZE):
        search = Prediction(VOCABULARY, Prefix(), top_k=3, queried=(WORD, PAD))
        search.rows = [0]
        search.advance(step_of(row, k=k))
        assert len(search.prediction().candidates) == 3
        assert [token.rank for token in search.prediction().queried] == [2, 4]


VALUES = npst.arrays(np.float32, st.integers(1, 60), elements=st.integers(-5, 0).map(float))


@given(VALUES, st.integers(1, 70))
def test_best_places_equal_a_stable_sort(values: np.ndarray, count: int) -> None:
    expected = np.argsort(-values, kind="stable")[:count]
    assert best_places(values, count).tolist() == expected.tolist()


@given(VALUES, st.data())
def test_a_rank_is_the_place_in_the_sorted_vocabulary(
    values: np.ndarray, data: st.DataObject
) -> None:
    token = data.draw(st.integers(0, len(values) - 1))
    order = np.argsort(-values, kind="stable").tolist()
    known = order[: data.draw(st.integers(0, len(values)))]
    assert rank(values, known, token) == order.index(token) + 1


def test_entropy_is_in_nats() -> None:
    assert entropy(np.full(8, -math.log(8), np.float32)) == pytest.approx(math.log(8))
    assert entropy(np.array([0.0, -200.0], np.float32)) == pytest.approx(0.0)
