"""How exactly a bundle computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Precision = Literal["int8", "fp32"]


@dataclass(frozen=True, slots=True)
class Precisions:
    """How a bundle computes.

    Attributes:
        matrices: of the weights.
        caches: of the keys and values that attention looks back on.
    """

    matrices: Precision
    caches: Precision
