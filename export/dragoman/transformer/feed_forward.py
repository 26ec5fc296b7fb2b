"""The position-wise feed-forward network (section 3.3)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W1 + b1) W2 + b2, equation 2, at each position alike."""

    def __init__(self, d_model: int, feed_forward: int) -> None:
        super().__init__()
        self.expand = nn.Linear(d_model, feed_forward)
        self.contract = nn.Linear(feed_forward, d_model)

    def forward(self, states: Tensor) -> Tensor:
        """[batch, length, d_model] -> [batch, length, d_model]."""
        return self.contract(functional.relu(self.expand(states)))  # type: ignore[no-any-return]
