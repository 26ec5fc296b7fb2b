"""What a prediction reads off the distribution after its prefix."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import Candidate, Prefix
from dragoman.engine.search import Prediction
from dragoman.engine.search.prediction import entropy, rank
from tests.engine.search.test_ranking import VALUES
from tests.engine.search.toy import (
    EOS,
    OTHER_WORD,
    PAD,
    SIZE,
    VOCABULARY,
    WORD,
    A,
    B,
    decode,
    distribution,
    step_of,
)


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
