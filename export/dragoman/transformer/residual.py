"""Residual connection, dropout and layer normalisation round a sub-layer (section 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from dragoman.transformer.config import Norm


class Residual(nn.Module):
    """Applies one sub-layer: post-norm `norm(x + f(x))` or pre-norm `x + f(norm(x))`.

    It holds no parameters: the layer owns its norms, so that their names stay readable.
    """

    def __init__(self, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.pre = norm == "pre"
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, states: Tensor, norm: nn.LayerNorm, sublayer: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return the new states [batch, length, d_model]; dropout hits the sub-layer's output."""
        if self.pre:
            return states + self.dropout(sublayer(norm(states)))  # type: ignore[no-any-return]
        return norm(states + self.dropout(sublayer(states)))  # type: ignore[no-any-return]


def final_norm(norm: Norm, d_model: int) -> nn.Module:
    """Return what stands after a stack: pre-norm leaves its sum unnormalised until here."""
    return nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
