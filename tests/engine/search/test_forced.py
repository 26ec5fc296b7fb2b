"""Given outputs are fed as they are, and each token's log-probability is noted."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.engine.search import Forced, Trace
from tests.engine.search.toy import EOS, SIZE, WORD, A, B, decode, step_of

ROWS = np.log(np.random.default_rng(1).dirichlet(np.ones(SIZE), 4)).astype(np.float32)


def test_each_token_is_scored_and_end_of_sentence_last() -> None:
    search = Forced((WORD, A, B), EOS)
    assert decode(search, *ROWS) == [WORD, A, B]
    expected = [float(row[token]) for row, token in zip(ROWS, (WORD, A, B, EOS), strict=True)]
    assert search.log_probabilities == tuple(expected)
    assert search.chosen == 0
    assert search.trace() == Trace(0, (WORD, A, B), expected)


def test_an_empty_output_is_scored_by_its_end() -> None:
    search = Forced((), EOS)
    assert decode(search, ROWS[0]) == []
    assert search.log_probabilities == (float(ROWS[0, EOS]),)
    assert search.trace().token_ids == ()


@pytest.mark.parametrize("known", [0, 1, 2, 3])
def test_it_goes_on_from_what_is_known(known: int) -> None:
    ids = (WORD, A, B)
    whole, resumed = Forced(ids, EOS), Forced(ids, EOS)
    decode(whole, *ROWS)
    resumed.resume(ids[:known], whole.log_probabilities[:known])
    assert decode(resumed, *ROWS[known:]) == list(ids[known:])
    assert resumed.log_probabilities == whole.log_probabilities


def test_it_looks_at_its_own_row_alone() -> None:
    search = Forced((A,), EOS)
    search.rows = [1]
    step = step_of(ROWS[0], ROWS[1], k=1)
    before = list(step.next_ids)
    assert not search.advance(step)
    assert step.next_ids == [before[0], A]
    assert search.log_probabilities == (float(ROWS[1, A]),)
