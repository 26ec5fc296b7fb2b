"""Integer products give what the same sums give in exact arithmetic, on any machine."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from dragoman.export.int8 import (
    InputQuantizer,
    IntegerArithmetic,
    IntegerEmbedding,
    IntegerProduct,
    RoundedProduct,
)
from dragoman.export.quantization import PAIR_LIMIT, quantize_columns
from dragoman.transformer import TokenEmbedding
from tests.export.tracing import run_exported

IN, OUT = 64, 48


def linear(inputs: int = IN, outputs: int = OUT) -> nn.Linear:
    torch.manual_seed(1)
    return nn.Linear(inputs, outputs)


Floats = NDArray[np.float32]


def rounded(values: Floats, quantizer: InputQuantizer) -> NDArray[np.int64]:
    scale, zero_point = quantizer.scale.numpy(), int(quantizer.zero_point)
    steps: NDArray[np.int64] = np.rint(values / scale).astype(np.int64)
    return np.clip(steps, -zero_point, 255 - zero_point)


def exact(values: Floats, product: IntegerProduct) -> NDArray[np.float64]:
    sums: NDArray[np.int64] = rounded(values, product.input) @ product.weight.numpy().astype(
        np.int64
    )
    scales = product.columns.double().numpy() * float(product.input.scale)
    bias: NDArray[np.float64] = product.bias.double().numpy()
    return sums * scales + bias


@pytest.mark.parametrize("rectified", [False, True])
def test_product_is_exact(rectified: bool) -> None:
    layer = linear()
    product = IntegerArithmetic({layer: 3.0}).product(layer, rectified=rectified)
    assert isinstance(product, IntegerProduct)
    run = run_exported(product, torch.zeros(3, 1, IN))
    values = np.random.default_rng(0).standard_normal((5, 1, IN)).astype(np.float32) * 2
    np.testing.assert_allclose(run(values), exact(values, product), rtol=1e-5, atol=1e-5)


def test_a_product_that_is_kept_is_rounded_in_steps_of_its_columns() -> None:
    layer = linear()
    steps = torch.linspace(0.001, 0.03, OUT)
    arithmetic = IntegerArithmetic({layer: 3.0}, {layer: steps})
    kept = arithmetic.cached(layer)
    assert isinstance(kept, RoundedProduct)
    assert arithmetic.cache_type == torch.int8
    product = arithmetic.product(layer)
    assert isinstance(product, IntegerProduct)
    values = np.random.default_rng(0).standard_normal((5, 1, IN)).astype(np.float32) * 2
    found = run_exported(kept, torch.zeros(3, 1, IN))(values)
    expected = np.clip(exact(values, product) / steps.double().numpy(), -128, 127)
    assert found.dtype == np.int8
    assert (np.abs(found) > 100).any()
    assert np.abs(found - expected).max() < 0.5 + 1e-3


def test_without_steps_keys_and_values_are_kept_as_they_come() -> None:
    layer = linear()
    arithmetic = IntegerArithmetic({layer: 3.0})
    assert arithmetic.cached(layer) is arithmetic.product(layer)
    assert arithmetic.cache_type == torch.float32


def test_sums_stay_exact_at_the_ends_of_the_range() -> None:
    layer = linear(IN, 4)
    product = IntegerArithmetic({layer: 1.0}).product(layer, rectified=True)
    assert isinstance(product, IntegerProduct)
    # Two neighbours at the limit of what 16 bits hold when both inputs are at 255.
    worst = torch.tensor([127, PAIR_LIMIT - 127], dtype=torch.int8).repeat(IN // 2)
    product.weight.copy_(torch.stack((worst, -worst, worst.flip(0), -worst.flip(0)), dim=1))
    run = run_exported(product, torch.zeros(3, 1, IN))
    for rows in (1, 2, 3, 8, 33):
        values = np.ones((rows, 1, IN), np.float32)
        np.testing.assert_allclose(run(values), exact(values, product), rtol=1e-6)


def test_a_rectified_input_is_rectified_by_saturation() -> None:
    layer = linear()
    product = IntegerArithmetic({layer: 2.0}).product(layer, rectified=True)
    run = run_exported(product, torch.zeros(3, 1, IN))
    values = np.random.default_rng(0).standard_normal((2, 1, IN)).astype(np.float32)
    assert np.array_equal(run(values), run(np.maximum(values, 0)))


def test_an_input_beyond_its_range_saturates() -> None:
    layer = linear()
    run = run_exported(IntegerArithmetic({layer: 1.0}).product(layer), torch.zeros(3, 1, IN))
    assert np.array_equal(run(np.full((1, 1, IN), 1e30, np.float32)), run(np.ones((1, 1, IN), "f")))


def test_the_same_maps_are_rounded_once() -> None:
    first, second = linear(), linear()
    arithmetic = IntegerArithmetic({first: 1.0, second: 1.0})
    assert arithmetic.product(first, second) is arithmetic.product(first, second)
    assert arithmetic.product(first) is not arithmetic.product(first, second)


def test_maps_side_by_side_equal_each_by_itself() -> None:
    first, second = linear(), linear(IN, 8)
    arithmetic = IntegerArithmetic({first: 2.0, second: 2.0})
    example = torch.zeros(3, 1, IN)
    values = np.random.default_rng(0).standard_normal((2, 1, IN)).astype(np.float32)
    both = run_exported(arithmetic.product(first, second), example)(values)
    alone = run_exported(arithmetic.product(second), example)(values)
    assert np.array_equal(both[..., OUT:], alone)


def test_embedding_looks_up_what_it_projects_with() -> None:
    torch.manual_seed(1)
    embedding = TokenEmbedding(40, 16, pad_id=0)
    built = IntegerArithmetic({embedding: 4.0}).embedding(embedding)
    assert isinstance(built, IntegerEmbedding)
    matrix = quantize_columns(embedding.weight.detach().T)
    table = (matrix.values.double() * matrix.scales.double()).T.numpy()
    ids = np.array([3, 39, 0, 3])
    looked_up = run_exported(built, torch.tensor([1, 2, 3]))(ids)
    np.testing.assert_allclose(looked_up, table[ids] * 4, rtol=1e-6)

    class Projection(nn.Module):
        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            return built.project(hidden)

    hidden = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)
    logits = run_exported(Projection(), torch.zeros(3, 16))(hidden)
    steps = rounded(hidden, built.input) * float(built.input.scale)
    np.testing.assert_allclose(logits, steps @ table.T, rtol=1e-5, atol=1e-5)
