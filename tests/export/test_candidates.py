"""The best tokens of each row, equal ones lowest id first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.export.candidates import Candidates, group_width
from tests.export.tracing import run_exported

Find = Callable[..., NDArray[np.int64]]

VOCABULARIES = (300, 97, 16)


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocabulary(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def find(vocabulary: int) -> Find:
    example = (torch.zeros(3, vocabulary), torch.tensor([2]))
    return run_exported(Candidates(vocabulary), *example)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_candidates_are_those_of_a_stable_sort(
    find: Find, vocabulary: int, data: st.DataObject
) -> None:
    rows = data.draw(st.integers(1, 4))
    seed = data.draw(st.integers(0, 2**32 - 1))
    distinct = data.draw(st.sampled_from([1, 2, 5, 1000]))
    count = data.draw(st.integers(1, vocabulary))
    logits = np.random.default_rng(seed).integers(distinct, size=(rows, vocabulary))
    found = find(logits.astype(np.float32), np.array([count]))
    assert np.array_equal(found, np.argsort(-logits, axis=1, kind="stable")[:, :count])


def test_groups_cut_the_vocabulary_evenly() -> None:
    assert group_width(8000) == 80
    assert group_width(32000) == 128
    assert group_width(300) == 15
    assert group_width(97) == 97
    assert group_width(16001) == 1
