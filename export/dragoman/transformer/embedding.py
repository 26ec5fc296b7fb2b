"""Token embeddings and the tied output projection (section 3.4)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class TokenEmbedding(nn.Module):
    """One matrix `weight` [vocabulary, d_model] for source, target and output projection.

    Looking a token up scales its row by sqrt(d_model); projecting uses the rows as they are.
    """

    def __init__(self, vocabulary_size: int, d_model: int, pad_id: int) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.scale = math.sqrt(d_model)
        self.weight = nn.Parameter(torch.empty(vocabulary_size, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        """Embed ids [batch, length] (int64) as vectors [batch, length, d_model]."""
        return functional.embedding(ids, self.weight) * self.scale

    def project(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., d_model] to logits [..., vocabulary]."""
        return functional.linear(hidden, self.weight)
