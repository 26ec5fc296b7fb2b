"""Rounding a weight matrix to int8 so that no sum can leave 16 bits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Processors without the VNNI instructions multiply uint8 by int8 and add the products of two
# neighbours in 16 bits, saturating. With values up to 255 such a sum stays exact as long as no two
# neighbours of the same sign exceed this together: then every machine sums to the same integer.
PAIR_LIMIT = 32767 // 255
_LARGEST = 127
_LEVELS = range(63, _LARGEST + 1, 4)
_COLUMNS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class QuantizedMatrix:
    """A matrix as `values x scales`.

    Attributes:
        values: int8 [in, out]
        scales: of the columns, float32 [out]
    """

    values: Tensor
    scales: Tensor


def quantize_columns(matrix: Tensor) -> QuantizedMatrix:
    """Round float32 [in, out], each column with the scale that leaves the least squared error.

    A finer scale rounds better but pushes more neighbours against `PAIR_LIMIT`; each column takes
    the best of several.
    """
    parts = [_quantize(part) for part in torch.split(matrix, _COLUMNS_AT_ONCE, dim=1)]
    return QuantizedMatrix(
        torch.cat([part.values for part in parts], dim=1).contiguous(),
        torch.cat([part.scales for part in parts]),
    )


def _quantize(matrix: Tensor) -> QuantizedMatrix:
    largest = matrix.abs().amax(0).clamp(min=torch.finfo(torch.float32).tiny)
    values = torch.zeros_like(matrix)
    scales = torch.ones_like(largest)
    least = torch.full_like(largest, torch.inf)
    for levels in _LEVELS:
        scale = largest / levels
        rounded = _limit_pairs((matrix / scale).round())
        error = (rounded * scale - matrix).square().sum(0)
        better = error < least
        values = torch.where(better, rounded, values)
        scales = torch.where(better, scale, scales)
        least = torch.where(better, error, least)
    return QuantizedMatrix(values.to(torch.int8), scales)


def _limit_pairs(values: Tensor) -> Tensor:
    """Move neighbours (rows 0 and 1, 2 and 3, ...) of the same sign towards 0 where they must."""
    if values.shape[0] % 2:
        return _limit_pairs(torch.cat((values, torch.zeros_like(values[:1]))))[:-1]
    pairs = values.view(-1, 2, values.shape[1])
    for sign in (1, -1):
        excess = ((pairs * sign).clamp(min=0).sum(1) - PAIR_LIMIT).clamp(min=0)
        shares = torch.stack(((excess / 2).ceil(), (excess / 2).floor()), dim=1)
        first_is_larger = (pairs[:, :1] * sign) >= (pairs[:, 1:] * sign)
        pairs = pairs - sign * torch.where(first_is_larger, shares, shares.flip(1))
    return pairs.view_as(values)
