"""Scaled dot-product and multi-head attention (sections 3.2.1 and 3.2.2)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, causal: bool = False
) -> Tensor:
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, equation 1.

    Args:
        query: [batch, heads, queries, head_size]
        key: [batch, heads, keys, head_size]
        value: [batch, heads, keys, head_size]
        mask: boolean, broadcastable to [batch, heads, queries, keys]; true may be attended to.
        causal: query position i may attend to key positions 0..i only; excludes `mask`.

    Returns:
        [batch, heads, queries, head_size]
    """
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal
    )


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O, each head on its own projection."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(
        self, states: Tensor, memory: Tensor, mask: Tensor | None, *, causal: bool = False
    ) -> Tensor:
        """Let `states` [batch, queries, d_model] attend to `memory` [batch, keys, d_model]."""
        query = self.split_heads(self.query(states))
        key = self.split_heads(self.key(memory))
        value = self.split_heads(self.value(memory))
        context = scaled_dot_product_attention(query, key, value, mask, causal=causal)
        return self.output(self.join_heads(context))  # type: ignore[no-any-return]

    def split_heads(self, states: Tensor) -> Tensor:
        """[batch, length, d_model] -> [batch, heads, length, head_size]."""
        batch, length, d_model = states.shape
        return states.view(batch, length, self.heads, d_model // self.heads).transpose(1, 2)

    def join_heads(self, context: Tensor) -> Tensor:
        """[batch, heads, length, head_size] -> [batch, length, d_model]."""
        return context.transpose(1, 2).flatten(2)
