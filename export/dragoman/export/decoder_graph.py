"""decoder.onnx: one more token for each of many rows of different age."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn

from dragoman.export.arithmetic import Arithmetic
from dragoman.export.candidates import Candidates
from dragoman.export.operators import KeyLengths, cached_self_attention, cross_attention
from dragoman.export.parts import DecoderParts, Embedded
from dragoman.transformer import DecoderLayer, Transformer


@dataclass(frozen=True, slots=True)
class StepCaches:
    """What one layer looks back on: [rows, heads, capacity, head_size] each."""

    self_key: Tensor
    self_value: Tensor
    cross_key: Tensor
    cross_value: Tensor


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
    ) -> tuple[Tensor, Tensor, Tensor]:
        """[rows, 1, d_model] -> the same shape, and the self-attention's cache."""
        written: list[Tensor] = []

        def attend(states: Tensor) -> Tensor:
            context, *cache = cached_self_attention(
                self.packed(states),
                caches.self_key,
                caches.self_value,
                self.heads,
                lengths.target,
            )
            written.extend(cache)
            return self.self_output(context)  # type: ignore[no-any-return]

        states = self.self_residual(states, attend)
        states = self.cross_residual(states, lambda x: self.attend_source(x, caches, lengths))
        states = self.feed_forward_residual(states, self.feed_forward)
        return states, written[0], written[1]

    def attend_source(self, states: Tensor, caches: StepCaches, lengths: StepLengths) -> Tensor:
        """Let the token see all of its row's source."""
        query = self.cross_query(states)
        context = cross_attention(
            query,
            lengths.empty,
            caches.cross_key,
            caches.cross_value,
            self.heads,
            lengths.source,
        )
        return self.cross_output(context)  # type: ignore[no-any-return]


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
                its cross key and value, [rows, heads, source_capacity, head_size]

        Returns:
            top_ids int64 [rows, k], top_log_probs [rows, k], log_probs [rows, vocabulary], then
            each layer's self key and value.
        """
        states = self.embedded(token, length).unsqueeze(1)
        lengths = StepLengths(
            target=KeyLengths(length, length.amax(0) + 1),
            source=KeyLengths(source_length - 1, source_length.amax(0)),
            empty=states[:, :0],
        )
        written: list[Tensor] = []
        for index, layer in enumerate(self.layers):
            states, *cache = layer(states, StepCaches(*caches[4 * index : 4 * index + 4]), lengths)
            written.extend(cache)
        logits = self.embedded.project(self.norm(states).squeeze(1))
        log_probs = logits.log_softmax(-1)
        top_ids = self.candidates(logits, top_k)
        return top_ids, log_probs.gather(1, top_ids), log_probs, *written
