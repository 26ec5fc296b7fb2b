"""Attention over keys and values of int8 is attention over what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dragoman.export.attention import (
    CacheSteps,
    KeyLengths,
    cached_self_attention,
    cross_attention,
)
from tests.export.tracing import run_exported

HEADS, SIZE, CAPACITY = 2, 8, 20
WIDTH = HEADS * SIZE
LENGTHS = np.array([1, 20, 7, 2], np.int32)

Array = NDArray[np.float64]


def steps() -> CacheSteps:
    return CacheSteps(torch.linspace(0.01, 0.04, WIDTH), torch.linspace(0.05, 0.01, WIDTH), HEADS)


def lengths(last: Tensor) -> KeyLengths:
    return KeyLengths(last, torch.full((), CAPACITY, dtype=torch.int32))


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = steps()

    def forward(self, packed: Tensor, key: Tensor, value: Tensor, last: Tensor) -> object:
        return cached_self_attention(packed, (key, value), HEADS, lengths(last), self.steps)


class Cross(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = steps()

    def forward(self, query: Tensor, key: Tensor, value: Tensor, last: Tensor) -> object:
        past = key, value
        return cross_attention(query, query[:, :0], past, HEADS, lengths(last), self.steps)


def heads_of(row: NDArray[np.floating]) -> Array:
    """[d_model] -> [heads, 1, head_size]."""
    return row.astype(np.float64).reshape(HEADS, 1, SIZE)


def attended(query: Array, key: Array, value: Array) -> Array:
    """[heads, 1, head_size] over [heads, length, head_size], as [d_model]."""
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(SIZE)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    context: Array = (weights / weights.sum(axis=2, keepdims=True) @ value).reshape(WIDTH)
    return context


@pytest.fixture
def caches() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    generator = np.random.default_rng(5)
    shape = (len(LENGTHS), HEADS, CAPACITY, SIZE)
    return generator.integers(-127, 128, shape, np.int8), generator.integers(
        -127, 128, shape, np.int8
    )


def example(width: int) -> tuple[Tensor, ...]:
    cache = torch.ones(3, HEADS, CAPACITY, SIZE, dtype=torch.int8)
    return torch.ones(3, 1, width), cache, cache.clone(), torch.ones(3, dtype=torch.int32)


def test_cross_attention_sees_what_the_integers_stand_for(
    caches: tuple[NDArray[np.int8], NDArray[np.int8]],
) -> None:
    key, value = caches
    query = np.random.default_rng(6).standard_normal((len(LENGTHS), 1, WIDTH)).astype(np.float32)
    found = run_exported(Cross(), *example(WIDTH))(query, key, value, LENGTHS - 1)
    sizes = [heads_of(each.numpy()) for each in (steps().key, steps().value)]
    for row, length in enumerate(LENGTHS):
        known = [c[row, :, :length] * size for c, size in zip(caches, sizes, strict=True)]
        expected = attended(heads_of(query[row, 0]), *known)
        np.testing.assert_allclose(found[row, 0], expected, rtol=1e-4, atol=1e-5)


def test_self_attention_sees_its_own_key_and_value_as_it_keeps_them(
    caches: tuple[NDArray[np.int8], NDArray[np.int8]],
) -> None:
    generator = np.random.default_rng(7)
    packed = generator.standard_normal((len(LENGTHS), 1, 3 * WIDTH)).astype(np.float32)
    found = run_exported(Own(), *example(3 * WIDTH))(packed, *caches, LENGTHS - 1)
    sizes = [heads_of(each.numpy()) for each in (steps().key, steps().value)]
    for row, length in enumerate(LENGTHS):
        query, *new = (heads_of(part) for part in np.split(packed[row, 0], 3))
        known = [
            np.concatenate((c[row, :, : length - 1], np.clip(np.rint(x / size), -127, 127)), axis=1)
            * size
            for c, x, size in zip(caches, new, sizes, strict=True)
        ]
        expected = attended(query, *known)
        np.testing.assert_allclose(found[row, 0], expected, rtol=1e-4, atol=1e-5)


def test_integers_are_restored() -> None:
    key = torch.ones(1, HEADS, 3, SIZE, dtype=torch.int8)
    found, doubled = steps().restore(key, 2 * key)
    torch.testing.assert_close(found[0, 1, 2], steps().key[SIZE:])
    torch.testing.assert_close(doubled[0, 0, 0], 2 * steps().value[:SIZE])
