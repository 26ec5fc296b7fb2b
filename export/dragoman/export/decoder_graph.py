"""decoder.onnx: one more token for each of many rows of different age."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from dragoman.export.arithmetic import Arithmetic
from dragoman.export.attention import KeyLengths, cached_self_attention, cross_attention
from dragoman.export.candidates import Candidates
from dragoman.export.parts import DecoderParts, Embedded, final_norm
from dragoman.transformer import DecoderLayer, Transformer


@dataclass(frozen=True, slots=True)
class StepCaches:
    """What one layer looks back on: keys and values, [rows, heads, capacity, head_size] each."""

    own: tuple[Tensor, Tensor]
    cross: tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class StepLengths:
    """How far each row may look back, and the keys and values that cross-attention adds: none."""

    target: KeyLengths
    source: KeyLengths
    empty: Tensor


class DecoderBlock(DecoderParts):
    """Self-attention over the cache, cross-attention, feed-forward, for one token a row."""

    def forward(
        self, states: Tensor, caches: StepCaches, lengths: StepLengths
    ) -> tuple[Tensor, ...]:
        """[rows, 1, d_model] -> the same shape, and the caches that may have been written to."""
        written: list[Tensor] = []

        def attend(states: Tensor) -> Tensor:
            context, *cache = cached_self_attention(
                self.packed(states), caches.own, self.heads, lengths.target, self.self_steps
            )
            written.extend(cache)
            return self.self_output(context)  # type: ignore[no-any-return]

        def attend_source(states: Tensor) -> Tensor:
            query = self.cross_query(states)
            context, *cache = cross_attention(
                query, lengths.empty, caches.cross, self.heads, lengths.source, self.cross_steps
            )
            written.extend(cache)
            return self.cross_output(context)  # type: ignore[no-any-return]

        states = self.self_residual(states, attend)
        states = self.cross_residual(states, attend_source)
        states = self.feed_forward_residual(states, self.feed_forward)
        return states, *written


class DecoderGraph(nn.Module):
    """One step of the decoder, up to what a search needs to choose the next token."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        super().__init__()
        pre = model.config.norm == "pre"
        self.embedded = Embedded(model, arithmetic)
        self.layers = nn.ModuleList(
            DecoderBlock(cast(DecoderLayer, layer), arithmetic, pre=pre)
            for layer in model.decoder.layers
        )
        self.norm = model.decoder.norm
        self.candidates = Candidates(model.config.vocabulary_size)
        rounded = arithmetic.cache_type == torch.int8
        self.capacity = model.config.max_positions if rounded else None

    def forward(
        self, token: Tensor, length: Tensor, source_length: Tensor, top_k: Tensor, *caches: Tensor
    ) -> tuple[Tensor, ...]:
        """Run one step.

        Args:
            token: int64 [rows]
            length: int32 [rows], tokens that the cache holds: the position of this token
            source_length: int32 [rows], at least 1
            top_k: int64 [1], how many candidates to return
            caches: of each layer its self key and value, [rows, heads, capacity, head_size], and
                its cross key and value, [rows, heads, source_capacity, head_size]; where they are
                int8, for as many positions as the model has

        Returns:
            top_ids int64 [rows, k], top_log_probs [rows, k], log_probs [rows, vocabulary],
            evidence [rows, 1, 1], which is not finite where a number of the row was not, then each
            layer's self key and value and, where they are int8, its cross key and value.
        """
        states = self.embedded(token, length).unsqueeze(1)
        lengths = StepLengths(
            target=self.key_lengths(length),
            source=self.key_lengths(source_length - 1),
            empty=states[:, :0],
        )
        written: list[Tensor] = []
        for index, layer in enumerate(self.layers):
            own_key, own_value, *cross = caches[4 * index : 4 * index + 4]
            looked_at = StepCaches((own_key, own_value), (cross[0], cross[1]))
            states, *cache = layer(states, looked_at, lengths)
            written.extend(cache)
        states, evidence = final_norm(self.norm, states)
        logits = self.embedded.project(states.squeeze(1))
        log_probs = logits.log_softmax(-1)
        top_ids = self.candidates(logits, top_k)
        return top_ids, log_probs.gather(1, top_ids), log_probs, evidence, *written

    def key_lengths(self, last: Tensor) -> KeyLengths:
        """Say how far rows look back, up to each one's last position, int32 [rows]."""
        if self.capacity is None:
            return KeyLengths(last, last.amax(0) + 1)
        return KeyLengths(last, torch.full((), self.capacity, dtype=torch.int32))
