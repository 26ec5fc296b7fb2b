"""Writes a Transformer of ours in CTranslate2's format: the same weights, nothing retrained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ctranslate2
import torch
from ctranslate2.specs import common_spec
from torch import nn

from dragoman.transformer import MultiHeadAttention, Transformer


def write_ctranslate2(model: Transformer, path: Path) -> None:
    """Convert `model` into a CTranslate2 directory in float32; loading it quantises.

    The pieces of its vocabulary are the numbers of the tokens, beside the four special ones.

    Args:
        model: Any configuration.
        path: The directory.
    """
    config = model.config
    spec = ctranslate2.specs.TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
        activation=common_spec.Activation.RELU,
    )
    pieces = _pieces(config.vocabulary_size)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.bos_token, spec.config.eos_token = pieces[config.bos_id], pieces[config.eos_id]
    spec.config.decoder_start_token, spec.config.unk_token = pieces[config.bos_id], pieces[1]
    _stack(spec.encoder, model, model.encoder)
    _stack(spec.decoder, model, model.decoder)
    spec.decoder.projection.weight = _array(model.embedding.weight)
    spec.validate()
    path.mkdir(parents=True, exist_ok=True)
    spec.save(str(path))


def _pieces(size: int) -> list[str]:
    return ["<pad>", "<unk>", "<s>", "</s>", *(str(number) for number in range(4, size))]


def _stack(spec: Any, model: Transformer, stack: Any) -> None:
    embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
    embeddings.weight = _array(model.embedding.weight)
    spec.scale_embeddings = True
    spec.position_encodings.encodings = _array(model.positions.table)
    if model.config.norm == "pre":
        _norm(spec.layer_norm, stack.norm)
    for layer_spec, layer in zip(spec.layer, stack.layers, strict=True):
        _self_attention(layer_spec.self_attention, layer.self_attention)
        _norm(layer_spec.self_attention.layer_norm, layer.self_attention_norm)
        if hasattr(layer, "cross_attention"):
            _cross_attention(layer_spec.attention, layer.cross_attention)
            _norm(layer_spec.attention.layer_norm, layer.cross_attention_norm)
        _linear(layer_spec.ffn.linear_0, layer.feed_forward.expand)
        _linear(layer_spec.ffn.linear_1, layer.feed_forward.contract)
        _norm(layer_spec.ffn.layer_norm, layer.feed_forward_norm)


def _self_attention(spec: Any, attention: MultiHeadAttention) -> None:
    _linear(spec.linear[0], attention.query, attention.key, attention.value)
    _linear(spec.linear[1], attention.output)


def _cross_attention(spec: Any, attention: MultiHeadAttention) -> None:
    _linear(spec.linear[0], attention.query)
    _linear(spec.linear[1], attention.key, attention.value)
    _linear(spec.linear[2], attention.output)


def _linear(spec: Any, *linears: nn.Linear) -> None:
    spec.weight = _array(torch.cat([linear.weight for linear in linears]))
    spec.bias = _array(torch.cat([linear.bias for linear in linears]))


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _array(values: torch.Tensor) -> Any:
    return values.detach().float().contiguous().numpy()
