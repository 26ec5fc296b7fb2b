"""The model inside an int8 bundle as a float32 `Transformer`: what a peer is given to run.

The bundle's own int8 values times their scales are the model that it serves, so a peer made from
them has the same weights, whether it rounds them anew or not; no checkpoint is needed. (The
export's balanced channels stay balanced: the function is the trained model's.)
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from dragoman.engine.bundle import DECODER, ENCODER, Bundle
from dragoman.transformer import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
)


class DequantizeError(ValueError):
    """The bundle does not hold what is looked for."""


@torch.no_grad()
def dequantized(bundle: Path) -> Transformer:
    """Rebuild the model of an int8 bundle.

    Raises:
        BundleError: The bundle is damaged.
        DequantizeError: A graph lacks a weight that the model needs.
    """
    model = Transformer(_config(Bundle.load(bundle))).eval()
    encoder, decoder = (_Weights(bundle / name) for name in (ENCODER, DECODER))
    tokens = "embedded.tokens"
    # The scales of the rows hold the factor sqrt(d_model) of looking a token up.
    rows = encoder.tensor(f"{tokens}.scales") / model.embedding.scale
    model.embedding.weight.copy_(encoder.tensor(f"{tokens}.weight").float() * rows[:, None])
    for number, module in enumerate(model.encoder.layers):
        _fill_encoder_layer(cast(EncoderLayer, module), encoder, f"layers.{number}")
    for number, module in enumerate(model.decoder.layers):
        layer = cast(DecoderLayer, module)
        _fill_decoder_layer(layer, decoder, f"layers.{number}")
        cross = layer.cross_attention
        for place, (linear, part) in enumerate(((cross.key, "key"), (cross.value, "value"))):
            # Keys and values of int8 come in steps.
            steps = decoder.find(f"layers.{number}.cross_steps.{part}")
            encoder.fill((linear,), f"memory_maps.{2 * number + place}", steps)
    if model.config.norm == "pre":
        encoder.fill_norm(model.encoder.norm, "norm")
        decoder.fill_norm(model.decoder.norm, "norm")
    return model


class _Weights:
    """The initialisers of a graph, by the name of the module that they came from."""

    def __init__(self, graph: Path) -> None:
        model = onnx.load(graph)
        self._name = graph.name
        self._found = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}

    def tensor(self, name: str) -> Tensor:
        if name not in self._found:
            raise DequantizeError(f"{self._name}: no weight is named {name!r}")
        return torch.from_numpy(self._found[name].copy())

    def find(self, name: str) -> Tensor | None:
        return self.tensor(name) if name in self._found else None

    def fill(self, linears: tuple[nn.Linear, ...], name: str, steps: Tensor | None = None) -> None:
        """Share a product of [in, sum of outs] out among the maps that it was laid out from.

        Args:
            linears: the maps.
            name: of the product.
            steps: the columns' units, float32 [sum of outs], if they are not 1.
        """
        units = torch.ones(()) if steps is None else steps
        matrix = self.tensor(f"{name}.weight").float() * (self.tensor(f"{name}.columns") * units)
        sizes = [linear.out_features for linear in linears]
        bias_of_all = self.tensor(f"{name}.bias") * units
        parts = zip(torch.split(matrix, sizes, dim=1), torch.split(bias_of_all, sizes), strict=True)
        for linear, (weight, bias) in zip(linears, parts, strict=True):
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)

    def fill_norm(self, norm: nn.Module, name: str) -> None:
        assert isinstance(norm, nn.LayerNorm)
        norm.weight.copy_(self.tensor(f"{name}.weight"))
        norm.bias.copy_(self.tensor(f"{name}.bias"))


def _fill_encoder_layer(layer: EncoderLayer, weights: _Weights, name: str) -> None:
    weights.fill(_packed(layer.self_attention), f"{name}.packed")
    weights.fill((layer.self_attention.output,), f"{name}.output")
    weights.fill_norm(layer.self_attention_norm, f"{name}.attention_residual.norm")
    _fill_feed_forward(layer.feed_forward, layer.feed_forward_norm, weights, name)


def _fill_decoder_layer(layer: DecoderLayer, weights: _Weights, name: str) -> None:
    weights.fill(_packed(layer.self_attention), f"{name}.packed")
    weights.fill((layer.self_attention.output,), f"{name}.self_output")
    weights.fill((layer.cross_attention.query,), f"{name}.cross_query")
    weights.fill((layer.cross_attention.output,), f"{name}.cross_output")
    weights.fill_norm(layer.self_attention_norm, f"{name}.self_residual.norm")
    weights.fill_norm(layer.cross_attention_norm, f"{name}.cross_residual.norm")
    _fill_feed_forward(layer.feed_forward, layer.feed_forward_norm, weights, name)


def _fill_feed_forward(
    feed_forward: FeedForward, norm: nn.LayerNorm, weights: _Weights, name: str
) -> None:
    weights.fill((feed_forward.expand,), f"{name}.feed_forward.expand")
    weights.fill((feed_forward.contract,), f"{name}.feed_forward.contract")
    weights.fill_norm(norm, f"{name}.feed_forward_residual.norm")


def _packed(attention: MultiHeadAttention) -> tuple[nn.Linear, ...]:
    return attention.query, attention.key, attention.value


def _config(bundle: Bundle) -> TransformerConfig:
    shape, tokens = bundle.architecture, bundle.tokens
    return TransformerConfig(
        vocabulary_size=shape.vocabulary_size,
        d_model=shape.d_model,
        heads=shape.heads,
        feed_forward=shape.feed_forward,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        norm="pre" if shape.norm == "pre" else "post",
        max_positions=shape.max_positions,
        pad_id=tokens.pad,
        bos_id=tokens.bos,
        eos_id=tokens.eos,
    )
