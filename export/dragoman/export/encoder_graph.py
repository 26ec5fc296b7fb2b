"""encoder.onnx: source tokens to the keys and values that the decoder's layers attend to."""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn

from dragoman.export.arithmetic import Arithmetic, Product
from dragoman.export.attention import KeyLengths, self_attention
from dragoman.export.parts import (
    Embedded,
    FeedForwardPart,
    Residual,
    final_norm,
    int32_scalar,
    split_heads,
)
from dragoman.transformer import DecoderLayer, EncoderLayer, Transformer


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, layer: EncoderLayer, arithmetic: Arithmetic, *, pre: bool) -> None:
        super().__init__()
        attention = layer.self_attention
        self.heads = attention.heads
        self.packed = arithmetic.product(attention.query, attention.key, attention.value)
        self.output = arithmetic.product(attention.output)
        self.feed_forward = FeedForwardPart(layer.feed_forward, arithmetic)
        self.attention_residual = Residual(layer.self_attention_norm, pre=pre)
        self.feed_forward_residual = Residual(layer.feed_forward_norm, pre=pre)

    def forward(self, states: Tensor, lengths: KeyLengths) -> Tensor:
        """[batch, source, d_model] -> the same shape."""
        states = self.attention_residual(states, lambda x: self.attend(x, lengths))
        return self.feed_forward_residual(states, self.feed_forward)  # type: ignore[no-any-return]

    def attend(self, states: Tensor, lengths: KeyLengths) -> Tensor:
        """Let every position see all real positions of its row."""
        context = self_attention(self.packed(states), self.heads, lengths, causal=False)
        return self.output(context)  # type: ignore[no-any-return]


class EncoderGraph(nn.Module):
    """The encoder, and the cross-attention's projections of what it gives."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        super().__init__()
        pre = model.config.norm == "pre"
        self.heads = model.config.heads
        self.embedded = Embedded(model, arithmetic)
        self.layers = nn.ModuleList(
            EncoderBlock(cast(EncoderLayer, layer), arithmetic, pre=pre)
            for layer in model.encoder.layers
        )
        self.norm = model.encoder.norm
        layers = [cast(DecoderLayer, layer) for layer in model.decoder.layers]
        attentions = [layer.cross_attention for layer in layers]
        maps = [linear for each in attentions for linear in (each.key, each.value)]
        self.memory_maps = nn.ModuleList(arithmetic.cached(linear) for linear in maps)

    def forward(self, source_ids: Tensor, source_lengths: Tensor) -> tuple[Tensor, ...]:
        """Encode sources.

        Args:
            source_ids: int64 [batch, source], right-padded
            source_lengths: int32 [batch], at least 1

        Returns:
            Key and value of each decoder layer, [batch, heads, source, head_size] each, then
            evidence [batch, source, 1], which is not finite where a number of a position was not.
        """
        lengths = KeyLengths(source_lengths - 1, int32_scalar(source_ids.shape[1]))
        states = self.embedded.sequences(source_ids)
        for layer in self.layers:
            states = layer(states, lengths)
        maps = [cast(Product, each) for each in self.memory_maps]
        states, evidence = final_norm(self.norm, states)
        prepared = maps[0].prepare(states)
        return *(split_heads(each.multiply(prepared), self.heads) for each in maps), evidence
