"""Places in order of falling value."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from dragoman.engine.search.ranking import best_finite_places, best_places

VALUES = npst.arrays(np.float32, st.integers(1, 60), elements=st.integers(-5, 0).map(float))


@given(VALUES, st.integers(1, 70))
def test_best_places_equal_a_stable_sort(values: np.ndarray, count: int) -> None:
    expected = np.argsort(-values, kind="stable")[:count]
    assert best_places(values, count).tolist() == expected.tolist()


def test_minus_infinity_has_no_place() -> None:
    values = np.array([-np.inf, -1.0, -np.inf, 0.0])
    assert best_finite_places(values, 3).tolist() == [3, 1]
