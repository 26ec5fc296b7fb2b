"""scorer.onnx: several target tokens a row at once, for scores and alignments."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from dragoman.export.arithmetic import Arithmetic
from dragoman.export.attention import KeyLengths, self_attention
from dragoman.export.parts import DecoderParts, Embedded, int32_scalar, split_heads
from dragoman.transformer import DecoderLayer, Transformer, padding_mask


class ScorerBlock(DecoderParts):
    """A decoder layer that reads whole targets; it keeps no cache."""

    def forward(
        self, states: Tensor, key: Tensor, value: Tensor, mask: Tensor, lengths: KeyLengths
    ) -> tuple[Tensor, Tensor]:
        """[batch, target, d_model] -> the same, and attention [batch, heads, target, source]."""
        weights: list[Tensor] = []
        if self.cross_steps is not None:
            key, value = self.cross_steps.restore(key, value)

        def attend_source(states: Tensor) -> Tensor:
            query = split_heads(self.cross_query(states), self.heads)
            weights.append(attention_weights(query, key, mask))
            context = (weights[0] @ value).transpose(1, 2).flatten(2)
            return self.cross_output(context)  # type: ignore[no-any-return]

        states = self.self_residual(states, lambda x: self.attend_target(x, lengths))
        states = self.cross_residual(states, attend_source)
        return self.feed_forward_residual(states, self.feed_forward), weights[0]

    def attend_target(self, states: Tensor, lengths: KeyLengths) -> Tensor:
        """Let position i see positions 0..i."""
        context = self_attention(self.packed(states), self.heads, lengths, causal=True)
        return self.self_output(context)  # type: ignore[no-any-return]


class ScorerGraph(nn.Module):
    """The decoder over given targets."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        super().__init__()
        pre = model.config.norm == "pre"
        self.embedded = Embedded(model, arithmetic)
        self.layers = nn.ModuleList(
            ScorerBlock(cast(DecoderLayer, layer), arithmetic, pre=pre)
            for layer in model.decoder.layers
        )
        self.norm = model.decoder.norm

    def forward(
        self, target_ids: Tensor, next_ids: Tensor, source_length: Tensor, *cross: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score targets.

        Args:
            target_ids: int64 [batch, target], beginning with BOS, right-padded
            next_ids: int64 [batch, target], the tokens to score at each position
            source_length: int32 [batch]
            cross: each layer's cross key and value, [batch, heads, source, head_size]

        Returns:
            Log-probability of each next token [batch, target], and the last layer's
            cross-attention averaged over its heads [batch, target, source].
        """
        batch, target = target_ids.shape
        last = torch.full((batch,), target - 1, dtype=torch.int32)
        lengths = KeyLengths(last, int32_scalar(target))
        mask = padding_mask(source_length, cross[0].shape[2])
        states = self.embedded.sequences(target_ids)
        weights = states
        for index, layer in enumerate(self.layers):
            states, weights = layer(states, cross[2 * index], cross[2 * index + 1], mask, lengths)
        logits = self.embedded.project(self.norm(states).flatten(0, 1))
        log_probs = logits.log_softmax(-1).gather(1, next_ids.view(-1, 1)).view(batch, target)
        return log_probs, weights.mean(1)


def attention_weights(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Softmax of the scaled products, [batch, heads, queries, keys]; 0 where `mask` is false."""
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
    return scores.masked_fill(~mask, -math.inf).softmax(-1)
