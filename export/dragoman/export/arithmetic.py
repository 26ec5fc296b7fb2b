"""How the graphs multiply: the one place where fp32 and int8 differ."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from dragoman.export import operators
from dragoman.export.attention import CacheSteps
from dragoman.transformer import MultiHeadAttention, TokenEmbedding


class Product(nn.Module):
    """One or more linear maps of the same input, side by side.

    It works in two strides, so that several products can share the first.
    """

    def prepare(self, states: Tensor) -> Tensor:
        """Turn float32 [batch, length, in] into what `multiply` takes."""
        raise NotImplementedError

    def multiply(self, prepared: Tensor) -> Tensor:
        """Return float32 [batch, length, out]."""
        raise NotImplementedError

    def forward(self, states: Tensor) -> Tensor:
        """[batch, length, in] -> [batch, length, out]."""
        return self.multiply(self.prepare(states))


class Embedding(nn.Module):
    """The one matrix that embeds tokens and projects hidden states."""

    def forward(self, ids: Tensor) -> Tensor:
        """Embed int64 [rows] as float32 [rows, d_model], scaled by sqrt(d_model)."""
        raise NotImplementedError

    def project(self, hidden: Tensor) -> Tensor:
        """Map float32 [rows, d_model] to logits [rows, vocabulary]."""
        raise NotImplementedError


class Arithmetic(Protocol):
    """Builds the products and the embedding of a graph from a trained model's modules."""

    def product(self, *linears: nn.Linear, rectified: bool = False) -> Product:
        """Lay linear maps of the same input side by side.

        Args:
            linears: the maps.
            rectified: whether the input goes through ReLU first.
        """

    def embedding(self, embedding: TokenEmbedding) -> Embedding:
        """Build the embedding."""

    def cached(self, linear: nn.Linear) -> Product:
        """Build a product that gives keys or values as they are kept."""

    def cache_steps(self, attention: MultiHeadAttention) -> CacheSteps | None:
        """Give the steps of an attention's keys and values where they are kept as int8."""

    @property
    def cache_type(self) -> torch.dtype:
        """Type of keys and values that are kept."""


class FloatArithmetic:
    """Everything in float32."""

    cache_type = torch.float32

    def product(self, *linears: nn.Linear, rectified: bool = False) -> Product:
        """Lay linear maps of the same input side by side."""
        return FloatProduct(linears, rectified)

    def embedding(self, embedding: TokenEmbedding) -> Embedding:
        """Build the embedding."""
        return FloatEmbedding(embedding)

    def cached(self, linear: nn.Linear) -> Product:
        """Build a product that gives keys or values."""
        return self.product(linear)

    def cache_steps(self, attention: MultiHeadAttention) -> None:
        """Give no steps."""


class FloatProduct(Product):
    """`ReLU(x) @ weight + bias`, the ReLU where it is asked for."""

    weight: Tensor
    bias: Tensor

    def __init__(self, linears: tuple[nn.Linear, ...], rectified: bool) -> None:
        super().__init__()
        self.rectified = rectified
        self.register_buffer("weight", side_by_side(linears))
        self.register_buffer("bias", torch.cat([linear.bias.detach() for linear in linears]))

    def prepare(self, states: Tensor) -> Tensor:
        """Rectify where that is asked for."""
        return states.relu() if self.rectified else states

    def multiply(self, prepared: Tensor) -> Tensor:
        """[batch, length, in] -> [batch, length, out]."""
        return prepared @ self.weight + self.bias


class FloatEmbedding(Embedding):
    """The embedding matrix [vocabulary, d_model], read by rows both ways."""

    weight: Tensor

    def __init__(self, embedding: TokenEmbedding) -> None:
        super().__init__()
        self.scale = embedding.scale
        self.register_buffer("weight", embedding.weight.detach())

    def forward(self, ids: Tensor) -> Tensor:
        """[rows] -> [rows, d_model]."""
        return operators.gather_rows(self.weight, ids) * self.scale

    def project(self, hidden: Tensor) -> Tensor:
        """[rows, d_model] -> [rows, vocabulary]."""
        return operators.transposed_product(hidden, self.weight)


def side_by_side(linears: tuple[nn.Linear, ...]) -> Tensor:
    """Return the maps' weights as one matrix [in, out], contiguous."""
    return torch.cat([linear.weight.detach().T for linear in linears], dim=1).contiguous()
