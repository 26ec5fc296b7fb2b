"""Attention masks: true where a query may look."""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    """Return [batch, 1, 1, size], true at the first `lengths[b]` of `size` key positions.

    Raises:
        ValueError: A row holds padding only. Its softmax would have nothing to sum over.
    """
    if not torch.compiler.is_compiling() and bool((lengths < 1).any()):
        rows = (lengths < 1).nonzero().flatten().tolist()
        raise ValueError(f"source_lengths: rows {rows} hold no token; at least 1 is needed")
    positions = torch.arange(size, device=lengths.device)
    return (positions < lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(1)
