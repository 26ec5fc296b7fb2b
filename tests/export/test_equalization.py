"""A model with balanced activations computes the same."""

from __future__ import annotations

import copy
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from dragoman.export.calibration import watching_inputs
from dragoman.export.equalization import equalize
from dragoman.transformer import EncoderLayer, Transformer
from tests.export.conftest import random_model, random_sentences


def logits(model: Transformer) -> Tensor:
    source, target = torch.tensor([[5, 6, 7, 3], [9, 3, 0, 0]]), torch.tensor([[2, 8], [2, 9]])
    with torch.no_grad():
        output: Tensor = model(source, torch.tensor([4, 2]), target)
    return output


def unequal(norm: str) -> Transformer:
    """A model one channel of which is large at every place, as in trained ones."""
    model = copy.deepcopy(random_model(norm))
    for name, parameter in model.named_parameters():
        if name.endswith(("norm.weight", "value.weight", "expand.weight")):
            parameter.data[3] *= 30
    return model


def imbalance(model: Transformer) -> float:
    """The largest channel's peak over the median's, averaged over the products' inputs."""
    peaks: dict[nn.Module, Tensor] = {}

    def see(module: nn.Module, states: Tensor) -> None:
        peaks[module] = states.abs().flatten(0, -2).amax(0)

    watching_inputs(model, random_sentences(model.config, 1), see)
    del peaks[model.embedding]
    return sum(float(p.max() / p.median()) for p in peaks.values()) / len(peaks)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_model_computes_the_same(norm: str) -> None:
    model = unequal(norm)
    balanced = equalize(model, random_sentences(model.config, 5))
    torch.testing.assert_close(logits(balanced), logits(model), atol=2e-4, rtol=1e-4)
    first = cast(EncoderLayer, balanced.encoder.layers[0]).feed_forward.expand.weight
    assert not torch.equal(
        first, cast(EncoderLayer, model.encoder.layers[0]).feed_forward.expand.weight
    )


@pytest.mark.parametrize(("norm", "share"), [("pre", 0.4), ("post", 0.9)])
def test_channels_become_more_equal(norm: str, share: float) -> None:
    model = unequal(norm)
    balanced = equalize(model, random_sentences(model.config, 5))
    assert imbalance(balanced) < share * imbalance(model)


def test_the_given_model_is_left_as_it_was() -> None:
    model = random_model("pre")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    equalize(model, random_sentences(model.config, 2))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_channel_that_is_never_used_stays_finite() -> None:
    model = random_model("pre")
    silent = copy.deepcopy(model)
    layer = cast(EncoderLayer, silent.encoder.layers[0])
    layer.feed_forward.expand.weight.data[0] = 0
    layer.feed_forward.expand.bias.data[0] = -1
    balanced = equalize(silent, random_sentences(model.config, 2))
    assert all(parameter.isfinite().all() for parameter in balanced.parameters())
    torch.testing.assert_close(logits(balanced), logits(silent), atol=2e-4, rtol=1e-4)
