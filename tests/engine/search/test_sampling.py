"""Draws from a distribution: what may be drawn, how often, and that nothing else matters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import SamplingOptions
from dragoman.engine.search.sampling import Sampler, uniform

SEEDS = st.integers(-(2**63), 2**63 - 1)


@given(SEEDS, st.integers(0, 15), st.integers(0, 10_000))
def test_a_number_is_a_function_of_its_coordinates(seed: int, index: int, position: int) -> None:
    number = uniform(seed, index, position)
    assert 0 <= number < 1
    assert number == uniform(seed, index, position)


def test_numbers_are_even_and_all_different() -> None:
    numbers = [uniform(*point) for point in itertools.product((0, 1, -1), range(4), range(200))]
    assert len(set(numbers)) == len(numbers)
    counts, _ = np.histogram(numbers, bins=10, range=(0, 1))
    assert counts.min() > 0.7 * len(numbers) / 10


def test_the_first_numbers_never_change() -> None:
    points = [(0, 0, 0), (7, 1, 3), (-1, 15, 500)]
    expected = [0.011546754286331562, 0.0931189622036861, 0.20722250789504304]
    assert [uniform(*point) for point in points] == expected


def narrowed(log_probs: torch.Tensor, options: SamplingOptions) -> torch.Tensor:
    """The distribution that is drawn from, in the plainest way."""
    probabilities = torch.softmax(log_probs.double() / options.temperature, dim=0)
    order = torch.sort(probabilities, descending=True, stable=True).indices.tolist()
    if options.top_k:
        order = order[: options.top_k]
    if options.top_p < 1:
        whole, reached, kept = sum(float(probabilities[i]) for i in order), 0.0, []
        for place in order:
            kept.append(place)
            reached += float(probabilities[place])
            if reached >= options.top_p * whole:
                break
        order = kept
    if options.min_p:
        order = [i for i in order if probabilities[i] >= options.min_p * probabilities[order[0]]]
    result = torch.zeros_like(probabilities)
    result[order] = probabilities[order]
    return result / result.sum()


CASES = [
    SamplingOptions(),
    SamplingOptions(temperature=0.3),
    SamplingOptions(temperature=5.0),
    SamplingOptions(top_k=3),
    SamplingOptions(top_p=0.7),
    SamplingOptions(min_p=0.3),
    SamplingOptions(top_k=6, top_p=0.8, min_p=0.1, temperature=2.0),
]


@pytest.mark.parametrize("options", CASES)
def test_tokens_are_drawn_as_often_as_they_should_be(options: SamplingOptions) -> None:
    logits = torch.tensor([0.5, 2.0, -1.0, 1.5, 0.0, 2.0, -float("inf"), 1.0])
    log_probs = torch.log_softmax(logits, dim=0)
    expected = narrowed(log_probs, options).numpy()
    values = log_probs.numpy()
    draws = [Sampler(options, 0).draw(values, position) for position in range(4000)]
    counts = np.bincount(draws, minlength=8)
    assert (counts[expected == 0] == 0).all()
    assert np.abs(counts / 4000 - expected).max() < 0.03


@pytest.mark.parametrize("top_p", [0.5, 0.95, 0.9999])
def test_a_nucleus_of_many_tokens_is_found(top_p: float) -> None:
    generator = torch.Generator().manual_seed(1)
    log_probs = torch.log_softmax(torch.randn(5000, generator=generator), dim=0)
    options = SamplingOptions(top_p=top_p)
    allowed = narrowed(log_probs, options).numpy() > 0
    draws = {Sampler(options, 0).draw(log_probs.numpy(), position) for position in range(300)}
    assert all(allowed[place] for place in draws)
    assert len(draws) > 200


def test_the_last_token_is_drawn_where_rounding_meets_the_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dragoman.engine.search.sampling.uniform", lambda *_: 1 - 2**-53)
    values = np.array([-1.0, -0.5, -np.inf], np.float32)
    assert Sampler(SamplingOptions(), 0).draw(values, 0) == 1
