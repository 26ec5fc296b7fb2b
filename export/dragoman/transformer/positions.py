"""Sinusoidal position encodings (section 3.5)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoids(length: int, d_model: int) -> Tensor:
    """Return [length, d_model]: PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = its cosine."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)  # [length, 1]
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # [d_model / 2]
    angle = position * torch.exp(-math.log(10_000.0) * exponent)  # [length, d_model / 2]
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """Adds the encoding of positions 0, 1, 2, ... to embedded tokens."""

    table: Tensor

    def __init__(self, max_positions: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(max_positions, d_model), persistent=False)

    def forward(self, embedded: Tensor) -> Tensor:
        """Add positions to embedded [batch, length, d_model].

        Raises:
            ValueError: The length exceeds the table.
        """
        length = embedded.shape[1]
        if length > self.table.shape[0]:
            raise ValueError(f"length: {length} tokens exceed max_positions {self.table.shape[0]}")
        return embedded + self.table[:length]
