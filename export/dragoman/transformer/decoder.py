"""The masked decoder stack with cross-attention (section 3.1)."""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.transformer.attention import MultiHeadAttention
from dragoman.transformer.config import TransformerConfig
from dragoman.transformer.feed_forward import FeedForward
from dragoman.transformer.residual import Residual, final_norm


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention over the memory, then feed-forward."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.heads)
        self.self_attention_norm = nn.LayerNorm(config.d_model)
        self.cross_attention = MultiHeadAttention(config.d_model, config.heads)
        self.cross_attention_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = FeedForward(config.d_model, config.feed_forward)
        self.feed_forward_norm = nn.LayerNorm(config.d_model)
        self.residual = Residual(config.norm, config.dropout)

    def forward(self, states: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """[batch, target, d_model] -> the same shape; position t sees targets 0..t only."""
        states = self.residual(
            states,
            self.self_attention_norm,
            lambda x: self.self_attention(x, x, None, causal=True),
        )
        states = self.residual(
            states,
            self.cross_attention_norm,
            lambda x: self.cross_attention(x, memory, memory_mask),
        )
        return self.residual(states, self.feed_forward_norm, self.feed_forward)  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """A stack of `decoder_layers` identical layers."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = final_norm(config.norm, config.d_model)

    def forward(self, states: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Turn embedded targets [batch, target, d_model] into hidden states of the same shape.

        Padding needs no mask of its own here: it stands on the right, where causality hides it.
        """
        for layer in self.layers:
            states = layer(states, memory, memory_mask)
        return self.norm(states)  # type: ignore[no-any-return]
