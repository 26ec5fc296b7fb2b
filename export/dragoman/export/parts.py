"""What the three graphs have in common: embedding with positions, sub-layers, norms."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dragoman.export.arithmetic import Arithmetic
from dragoman.export.operators import add, gather_rows, normalise
from dragoman.transformer import DecoderLayer, FeedForward, Transformer


class Embedded(nn.Module):
    """Token embedding plus position, read from one table that all graphs share."""

    positions: Tensor

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        super().__init__()
        self.tokens = arithmetic.embedding(model.embedding)
        self.register_buffer("positions", model.positions.table)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embed int64 ids [rows] at int32 positions [rows] as [rows, d_model]."""
        tokens: Tensor = self.tokens(ids)
        return tokens + gather_rows(self.positions, positions)

    def sequences(self, ids: Tensor) -> Tensor:
        """Embed int64 ids [batch, length], each row's first at position 0."""
        batch, length = ids.shape
        embedded: Tensor = self.tokens(ids.flatten()).view(batch, length, -1)
        return embedded + self.positions[:length]

    def project(self, hidden: Tensor) -> Tensor:
        """Map hidden states [rows, d_model] to logits [rows, vocabulary]."""
        return self.tokens.project(hidden)


class FeedForwardPart(nn.Module):
    """The position-wise feed-forward network."""

    def __init__(self, feed_forward: FeedForward, arithmetic: Arithmetic) -> None:
        super().__init__()
        self.expand = arithmetic.product(feed_forward.expand)
        self.contract = arithmetic.product(feed_forward.contract, rectified=True)

    def forward(self, states: Tensor) -> Tensor:
        """[batch, length, d_model] -> the same shape."""
        return self.contract(self.expand(states))  # type: ignore[no-any-return]


class Residual(nn.Module):
    """A sub-layer inside its residual connection: `x + f(norm(x))` or `norm(x + f(x))`."""

    def __init__(self, norm: nn.LayerNorm, *, pre: bool) -> None:
        super().__init__()
        self.norm = norm
        self.pre = pre

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """[batch, length, d_model] -> the same shape."""
        if self.pre:
            return add(states, sublayer(self.norm(states)))
        normed: Tensor = self.norm(add(states, sublayer(states)))
        return normed


class DecoderParts(nn.Module):
    """A decoder layer's products and residual connections, whichever way it attends."""

    def __init__(self, layer: DecoderLayer, arithmetic: Arithmetic, *, pre: bool) -> None:
        super().__init__()
        own, cross = layer.self_attention, layer.cross_attention
        self.heads = own.heads
        self.packed = arithmetic.product(own.query, own.key, own.value)
        self.self_output = arithmetic.product(own.output)
        self.cross_query = arithmetic.product(cross.query)
        self.cross_output = arithmetic.product(cross.output)
        self.self_steps = arithmetic.cache_steps(own)
        self.cross_steps = arithmetic.cache_steps(cross)
        self.feed_forward = FeedForwardPart(layer.feed_forward, arithmetic)
        self.self_residual = Residual(layer.self_attention_norm, pre=pre)
        self.cross_residual = Residual(layer.cross_attention_norm, pre=pre)
        self.feed_forward_residual = Residual(layer.feed_forward_norm, pre=pre)


def final_norm(norm: nn.Module, states: Tensor) -> tuple[Tensor, Tensor]:
    """Apply the norm at the end of a stack, [batch, length, d_model].

    Returns:
        The normalised states, and a number for each position, [batch, length, 1], that is not
        finite if and only if one of its states is not. An int8 product rounds such states to
        integers, and nothing behind it shows them.
    """
    if isinstance(norm, nn.LayerNorm):
        return normalise(states, norm.weight, norm.bias, norm.eps)
    return states, states.sum(2, keepdim=True)


def split_heads(states: Tensor, heads: int) -> Tensor:
    """[batch, length, d_model] -> [batch, heads, length, head_size]."""
    batch, length, d_model = states.shape
    return states.view(batch, length, heads, d_model // heads).transpose(1, 2)


def int32_scalar(value: int) -> Tensor:
    """Turn a size into a scalar tensor that follows it."""
    return torch.full((), value, dtype=torch.int32)
