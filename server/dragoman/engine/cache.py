"""The keys and values that attention looks back on: one big array for each kind, made once.

The arrays are zeroed by the operating system when they are first touched, so capacity that no
request has used yet takes no memory.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.bundle import Bundle
from dragoman.engine.memory import reserve

# Keys and values: float32 or int8, as the model has them.
Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Sizes and type of the cache.

    Attributes:
        layers: decoder layers.
        rows: hypotheses.
        heads: attention heads.
        head_size: width of one head.
        target_capacity: positions of a target.
        source_capacity: positions of a source.
        rounded: whether it holds int8, else float32.
    """

    layers: int
    rows: int
    heads: int
    head_size: int
    target_capacity: int
    source_capacity: int
    rounded: bool = False

    @property
    def dtype(self) -> type[np.int8 | np.float32]:
        """Type of the cache's values."""
        return np.int8 if self.rounded else np.float32

    @classmethod
    def of(cls, bundle: Bundle, rows: int) -> "CacheShape":
        """Give the sizes that a bundle needs for this many rows."""
        architecture = bundle.architecture
        return cls(
            layers=architecture.decoder_layers,
            rows=rows,
            heads=architecture.heads,
            head_size=architecture.head_size,
            target_capacity=bundle.limits.max_target_tokens,
            source_capacity=bundle.limits.max_source_tokens,
            rounded=bundle.cache_precision == "int8",
        )


class Cache:
    """Keys and values of all rows.

    Attributes:
        target: of self-attention, [layers, 2, rows, heads, target_capacity, head_size];
            index 0 of the second axis holds keys, index 1 values.
        source: of cross-attention, [layers, 2, rows, heads, source_capacity, head_size].
    """

    def __init__(self, shape: CacheShape) -> None:
        """Reserve the arrays without touching them."""
        leading = (shape.layers, 2, shape.rows, shape.heads)
        self.shape = shape
        self.target = reserve((*leading, shape.target_capacity, shape.head_size), shape.dtype)
        self.source = reserve((*leading, shape.source_capacity, shape.head_size), shape.dtype)

    def load_source(self, row: int, encoded: Values) -> None:
        """Give a row its source.

        Args:
            row: the row.
            encoded: [layers, 2, heads, length, head_size].
        """
        self.source[:, :, row, :, : encoded.shape[3]] = encoded

    def load_target(self, row: int, known: Values) -> None:
        """Give a row what is known of its target.

        Args:
            row: the row.
            known: [layers, 2, heads, positions, head_size].
        """
        self.target[:, :, row, :, : known.shape[3]] = known

    def read_target(self, row: int, positions: int) -> Values:
        """Copy a row's target, [layers, 2, heads, positions, head_size]."""
        return self.target[:, :, row, :, :positions].copy()

    def copy_target(self, origin: int, row: int, start: int, length: int) -> None:
        """Copy positions `start` .. `length` - 1 of one row's target to another."""
        if start < length:
            alive = slice(start, length)
            self.target[:, :, row, :, alive] = self.target[:, :, origin, :, alive]

    def copy_source(self, origin: int, row: int, length: int) -> None:
        """Copy what is alive of one row's source to another."""
        self.source[:, :, row, :, :length] = self.source[:, :, origin, :, :length]

    def finite(self, row: int, length: int, source_length: int) -> bool:
        """Whether what is alive of a row is finite: its sum is, if and only if all of it is.

        Integers always are; what a step's evidence is for.
        """
        if self.shape.rounded:
            return True
        parts = (self.target[:, :, row, :, :length], self.source[:, :, row, :, :source_length])
        return all(math.isfinite(np.einsum("abcde->", part)) for part in parts)

    def clear(self, row: int) -> None:
        """Zero a row, so that values that are not finite can't outlive the request they hit."""
        self.target[:, :, row] = 0
        self.source[:, :, row] = 0
