"""Moving size between activations and weights, so that both round well.

Where a layer normalisation or a linear map feeds linear maps only, channel j may leave the first
divided by any f_j if the others multiply by it: the model computes the same. One scale serves all
channels of an activation, so the best f makes channels about equally large, without making rows of
the weights too unequal (SmoothQuant, Xiao et al. 2023, with its alpha at 0.7).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from dragoman.export.calibration import Sentence, watching_inputs
from dragoman.transformer import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    Transformer,
)

_ALPHA = 0.7
# A channel that is hardly ever used must not blow its weights up.
_SMALLEST_SHARE = 1e-3


@dataclass(frozen=True, slots=True)
class _Site:
    """What gives an activation, and the linear maps that are all that takes it."""

    producer: nn.LayerNorm | nn.Linear
    consumers: tuple[nn.Linear, ...]


@torch.no_grad()
def equalize(model: Transformer, sentences: Iterable[Sentence]) -> Transformer:
    """Return a copy of the model that computes the same from better balanced numbers.

    Args:
        model: in evaluation mode.
        sentences: what its activations are measured on.
    """
    balanced = copy.deepcopy(model)
    peaks: dict[nn.Module, Tensor] = {}

    def see(module: nn.Module, states: Tensor) -> None:
        found = states.abs().flatten(0, -2).amax(0)
        peaks[module] = torch.maximum(peaks[module], found) if module in peaks else found

    watching_inputs(balanced, sentences, see)
    for site in _sites(balanced):
        _rescale(site, _factors(peaks[site.consumers[0]], site.consumers))
    return balanced


def _factors(peaks: Tensor, consumers: tuple[nn.Linear, ...]) -> Tensor:
    weights = torch.stack([each.weight.abs().amax(0) for each in consumers]).amax(0)
    factors = _lifted(peaks) ** _ALPHA / _lifted(weights) ** (1 - _ALPHA)
    return factors / factors.log().mean().exp()


def _lifted(values: Tensor) -> Tensor:
    smallest = max(float(values.max()) * _SMALLEST_SHARE, torch.finfo(values.dtype).tiny)
    return values.clamp(min=smallest)


def _rescale(site: _Site, factors: Tensor) -> None:
    shape = (-1, *[1] * (site.producer.weight.dim() - 1))
    site.producer.weight.div_(factors.view(shape))
    site.producer.bias.div_(factors)
    for consumer in site.consumers:
        consumer.weight.mul_(factors)


def _sites(model: Transformer) -> Iterator[_Site]:
    encoder = [cast(EncoderLayer, layer) for layer in model.encoder.layers]
    decoder = [cast(DecoderLayer, layer) for layer in model.decoder.layers]
    layers: list[EncoderLayer | DecoderLayer] = [*encoder, *decoder]
    for layer in layers:
        yield from (_attended(layer.self_attention), _fed_forward(layer.feed_forward))
    for each in decoder:
        yield _attended(each.cross_attention)
    # After the residual connection a normalised state goes on to the next one, unscaled.
    if model.config.norm == "pre":
        yield from _normalised(layers)
        yield from _normalised_for_cross_attention(model, decoder)


def _normalised(layers: list[EncoderLayer | DecoderLayer]) -> Iterator[_Site]:
    for layer in layers:
        own = layer.self_attention
        yield _Site(layer.self_attention_norm, (own.query, own.key, own.value))
        yield _Site(layer.feed_forward_norm, (layer.feed_forward.expand,))


def _normalised_for_cross_attention(
    model: Transformer, layers: list[DecoderLayer]
) -> Iterator[_Site]:
    for layer in layers:
        yield _Site(layer.cross_attention_norm, (layer.cross_attention.query,))
    crosses = [layer.cross_attention for layer in layers]
    memory = tuple(linear for cross in crosses for linear in (cross.key, cross.value))
    yield _Site(cast(nn.LayerNorm, model.encoder.norm), memory)


def _attended(attention: MultiHeadAttention) -> _Site:
    # Attention averages values channel by channel, so a factor passes through it.
    return _Site(attention.value, (attention.output,))


def _fed_forward(feed_forward: FeedForward) -> _Site:
    # A positive factor passes through ReLU.
    return _Site(feed_forward.expand, (feed_forward.contract,))
