"""The encoder stack (section 3.1)."""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.transformer.attention import MultiHeadAttention
from dragoman.transformer.config import TransformerConfig
from dragoman.transformer.feed_forward import FeedForward
from dragoman.transformer.residual import Residual, final_norm


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.heads)
        self.self_attention_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = FeedForward(config.d_model, config.feed_forward)
        self.feed_forward_norm = nn.LayerNorm(config.d_model)
        self.residual = Residual(config.norm, config.dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """[batch, source, d_model] -> the same shape; `mask` hides padding keys."""
        states = self.residual(
            states, self.self_attention_norm, lambda x: self.self_attention(x, x, mask)
        )
        return self.residual(states, self.feed_forward_norm, self.feed_forward)  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """A stack of `encoder_layers` identical layers."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = final_norm(config.norm, config.d_model)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Turn embedded source [batch, source, d_model] into memory of the same shape."""
        for layer in self.layers:
            states = layer(states, mask)
        return self.norm(states)  # type: ignore[no-any-return]
