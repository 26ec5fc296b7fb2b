"""A Transformer of ours as `transformers` has it: M2M100 for pre-norm, Marian for post-norm.

Their own position tables differ from the paper's (halves instead of pairs, an offset, another
frequency), so ours is put in their place; scaling by sqrt(d_model) and tied projections they share.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
)

from dragoman.transformer import MultiHeadAttention, Transformer

_MOST_DIFFERENCE = 1e-3


@torch.no_grad()
def transformers_model(model: Transformer) -> Any:
    """Convert a model, and compare the logits of both.

    Raises:
        ValueError: They differ.
    """
    pre = model.config.norm == "pre"
    peer: Any = _m2m100(model) if pre else _marian(model)
    peer.model.shared.weight.copy_(model.embedding.weight)
    for own, theirs in ((model.encoder, peer.model.encoder), (model.decoder, peer.model.decoder)):
        for layer, their_layer in zip(own.layers, theirs.layers, strict=True):
            _fill_layer(layer, their_layer)
        if pre:
            _copy(own.norm, theirs.layer_norm)
    peer.tie_weights()
    peer.eval()
    _require_equal(model, peer)
    return peer


def _settings(model: Transformer) -> dict[str, Any]:
    config = model.config
    return {
        "vocab_size": config.vocabulary_size,
        "d_model": config.d_model,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "encoder_attention_heads": config.heads,
        "decoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.feed_forward,
        "decoder_ffn_dim": config.feed_forward,
        "max_position_embeddings": config.max_positions,
        "activation_function": "relu",
        "scale_embedding": True,
        "pad_token_id": config.pad_id,
        "bos_token_id": config.bos_id,
        "eos_token_id": config.eos_id,
        "decoder_start_token_id": config.bos_id,
        "forced_eos_token_id": None,
        "tie_word_embeddings": True,
    }


def _m2m100(model: Transformer) -> Any:
    peer: Any = M2M100ForConditionalGeneration(M2M100Config(**_settings(model)))
    table = model.positions.table
    for stack in (peer.model.encoder, peer.model.decoder):
        # Padding has the first place, the first token the one after it.
        first = model.config.pad_id + 1
        weights = torch.zeros(table.shape[0] + first + 1, table.shape[1])
        weights[first : first + table.shape[0]] = table
        stack.embed_positions.weights = weights
    return peer


def _marian(model: Transformer) -> Any:
    config = MarianConfig(**_settings(model), share_encoder_decoder_embeddings=True)
    peer: Any = MarianMTModel(config)
    for stack in (peer.model.encoder, peer.model.decoder):
        stack.embed_positions.weight.copy_(model.positions.table)
    return peer


def _fill_layer(layer: Any, theirs: Any) -> None:
    _fill_attention(layer.self_attention, theirs.self_attn)
    _copy(layer.self_attention_norm, theirs.self_attn_layer_norm)
    if hasattr(layer, "cross_attention"):
        _fill_attention(layer.cross_attention, theirs.encoder_attn)
        _copy(layer.cross_attention_norm, theirs.encoder_attn_layer_norm)
    _copy(layer.feed_forward.expand, theirs.fc1)
    _copy(layer.feed_forward.contract, theirs.fc2)
    _copy(layer.feed_forward_norm, theirs.final_layer_norm)


def _fill_attention(attention: MultiHeadAttention, theirs: Any) -> None:
    _copy(attention.query, theirs.q_proj)
    _copy(attention.key, theirs.k_proj)
    _copy(attention.value, theirs.v_proj)
    _copy(attention.output, theirs.out_proj)


def _copy(source: Any, target: nn.Module) -> None:
    target.load_state_dict(source.state_dict())


def _require_equal(model: Transformer, peer: Any) -> None:
    """Compare logits on two sources of unlike length, the shorter one padded."""
    config = model.config
    ids = torch.randint(4, config.vocabulary_size, (2, 12))
    ids[:, -1] = config.eos_id
    ids[1, 7:] = config.pad_id
    ids[1, 6] = config.eos_id
    lengths = torch.tensor([12, 7])
    target = torch.randint(4, config.vocabulary_size, (2, 9))
    target[:, 0] = config.bos_id
    mask = (torch.arange(12) < lengths[:, None]).long()
    found = peer(input_ids=ids, attention_mask=mask, decoder_input_ids=target).logits
    difference = float((found - model(ids, lengths, target)).abs().max())
    if not difference <= _MOST_DIFFERENCE:
        raise ValueError(f"logits: differ by {difference:g}, more than {_MOST_DIFFERENCE:g}")
