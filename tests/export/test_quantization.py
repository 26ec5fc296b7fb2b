"""Rounding matrices: small error, and no sum of two neighbours that leaves 16 bits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from dragoman.export.quantization import PAIR_LIMIT, quantize_columns

MATRICES = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 9), st.integers(1, 5)),
    elements=st.floats(-4, 4, width=32),
)


def pair_sums(values: torch.Tensor) -> torch.Tensor:
    """Largest magnitude of what two neighbours of the same sign add up to, for each pair."""
    even = values[: len(values) // 2 * 2].int().view(-1, 2, values.shape[1])
    return torch.maximum(even.clamp(min=0).sum(1), (-even).clamp(min=0).sum(1))


@given(MATRICES)
@settings(max_examples=60, deadline=None)
def test_neighbours_never_exceed_the_limit(matrix: NDArray[np.float32]) -> None:
    values = quantize_columns(torch.from_numpy(matrix)).values
    assert values.dtype == torch.int8
    assert pair_sums(values).le(PAIR_LIMIT).all()
    assert 255 * PAIR_LIMIT <= 32767


@given(MATRICES, st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_columns_do_not_depend_on_each_other(matrix: NDArray[np.float32], chosen: int) -> None:
    column = chosen % matrix.shape[1]
    together = quantize_columns(torch.from_numpy(matrix))
    alone = quantize_columns(torch.from_numpy(matrix[:, column : column + 1].copy()))
    assert torch.equal(together.values[:, column], alone.values[:, 0])
    assert torch.equal(together.scales[column], alone.scales[0])


def test_error_is_below_that_of_seven_bits() -> None:
    matrix = torch.randn((512, 64), generator=torch.Generator().manual_seed(0))
    rounded = quantize_columns(matrix)
    error = (rounded.values * rounded.scales - matrix).norm() / matrix.norm()
    scale = matrix.abs().amax(0) / 63
    seven_bits = ((matrix / scale).round() * scale - matrix).norm() / matrix.norm()
    assert error < 0.75 * seven_bits


def test_a_value_beside_small_ones_takes_the_whole_range() -> None:
    matrix = torch.tensor([[1.0], [0.0], [-1.0], [0.0]])
    rounded = quantize_columns(matrix)
    torch.testing.assert_close(rounded.values * rounded.scales, matrix)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_zeros_stay_zeros(rows: int) -> None:
    rounded = quantize_columns(torch.zeros(rows, 3))
    assert torch.equal(rounded.values, torch.zeros(rows, 3, dtype=torch.int8))
    assert rounded.scales.isfinite().all()


def test_wide_matrices_are_rounded_in_parts() -> None:
    matrix = torch.randn((4, 5000), generator=torch.Generator().manual_seed(0))
    rounded = quantize_columns(matrix)
    assert rounded.values.shape == matrix.shape
    assert rounded.scales.shape == (5000,)
    torch.testing.assert_close(rounded.values * rounded.scales, matrix, atol=0.05, rtol=0.05)
