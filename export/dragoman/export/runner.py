"""Driving exported graphs directly, caches in place: what the certificate measures with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from dragoman.engine.bundle import DECODER, ENCODER, SCORER
from dragoman.engine.sessions import open_session
from dragoman.transformer import TransformerConfig

Floats = NDArray[np.float32]
# float32 or int8, as the graphs want them.
Caches = NDArray[Any]
Ids = NDArray[np.int64]
Lengths = NDArray[np.int32]

_PARTS = ("key", "value")
_CANDIDATES = 3
_LARGEST = 127
# Of a float32 cache that the decoder takes; one of int8 has room for all positions.
_LEAST_CAPACITY = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One sequence to step through.

    Attributes:
        source: token ids, at least one.
        target: token ids to feed, the first at position 0.
        start: at which step of the batch it begins; later rows are younger.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Stepped:
    """What the decoder gave for each target position of a row.

    Attributes:
        log_probs: [target, vocabulary]
        top_ids: [target, candidates]
        top_log_probs: [target, candidates]
        cache: of self-attention when the row ended, [layers, 2, heads, target, head_size]
    """

    log_probs: Floats
    top_ids: Ids
    top_log_probs: Floats
    cache: Caches

    def equals(self, other: Stepped) -> bool:
        """Whether all of it is the same, bit for bit."""
        return all(
            np.array_equal(mine, theirs)
            for mine, theirs in (
                (self.log_probs, other.log_probs),
                (self.top_ids, other.top_ids),
                (self.top_log_probs, other.top_log_probs),
                (self.cache, other.cache),
            )
        )


class GraphRunner:
    """The graphs of one directory, opened as the engine opens them."""

    def __init__(self, directory: Path, config: TransformerConfig, threads: int = 1) -> None:
        self.config = config
        self._encoder = open_session(directory / ENCODER, threads)
        self._decoder = open_session(directory / DECODER, threads)
        self._scorer = open_session(directory / SCORER, threads)

    def encode(self, sources: Sequence[tuple[int, ...]]) -> Caches:
        """Encode sources together: [layers, 2, batch, heads, source, head_size]."""
        lengths = np.array([len(source) for source in sources], np.int32)
        ids = padded(sources, self.config.pad_id)
        layers = range(self.config.decoder_layers)
        names = [f"cross_{part}_{layer}" for layer in layers for part in _PARTS]
        outputs = self._encoder.run(names, {"source_ids": ids, "source_lengths": lengths})
        return np.stack(outputs).reshape(-1, 2, *outputs[0].shape)

    def step_through(self, rows: Sequence[Row]) -> list[Stepped]:
        """Feed rows token by token in one batch; the youngest joins when its time has come.

        Cache positions that no token has reached hold NaN, or the largest integers, so that a look
        at them shows.
        """
        run = _StepRun(self._decoder, self.config, rows, self.encode([r.source for r in rows]))
        results: list[list[tuple[Floats, Ids, Floats]]] = [[] for _ in rows]
        for step in range(max(row.start + len(row.target) for row in rows)):
            for index, row in enumerate(rows):
                run.place(index, min(max(step - row.start, 0), len(row.target) - 1))
            run.run()
            for index, row in enumerate(rows):
                if row.start <= step < row.start + len(row.target):
                    results[index].append(run.outputs(index))
        return [_stepped(found, run.cache(index)) for index, found in enumerate(results)]

    def score(self, rows: Sequence[Row], next_ids: Sequence[tuple[int, ...]]) -> list[Floats]:
        """Return each row's log-probabilities of `next_ids`, [target] each, all read at once."""
        cross = self.encode([row.source for row in rows])
        feed: dict[str, NDArray[np.generic]] = {
            "target_ids": padded([row.target for row in rows], self.config.pad_id),
            "next_ids": padded(next_ids, self.config.pad_id),
            "source_length": np.array([len(row.source) for row in rows], np.int32),
        }
        for layer, parts in enumerate(cross):
            feed |= {
                f"cross_{name}_{layer}": part for name, part in zip(_PARTS, parts, strict=True)
            }
        scores = self._scorer.run(["log_probs_of_next"], feed)[0]
        return [score[: len(row.target)] for score, row in zip(scores, rows, strict=True)]


class _StepRun:
    """One batch of rows with its buffers, bound once."""

    def __init__(
        self,
        session: ort.InferenceSession,
        config: TransformerConfig,
        rows: Sequence[Row],
        cross: Caches,
    ) -> None:
        self._session = session
        self._rows = rows
        rounded = cross.dtype == np.int8
        least = config.max_positions if rounded else _LEAST_CAPACITY
        count = len(rows)
        capacity = max(least, *(len(row.target) for row in rows))
        shape = (config.decoder_layers, 2, count, config.heads, capacity, config.head_size)
        self._caches = np.full(shape, _LARGEST if rounded else np.nan, cross.dtype)
        self._cross = _with_capacity(cross, least)
        self._token = np.zeros(count, np.int64)
        self._length = np.zeros(count, np.int32)
        self._source_length = np.array([len(row.source) for row in rows], np.int32)
        self._top_k = np.array([_CANDIDATES], np.int64)
        self._log_probs = np.zeros((count, config.vocabulary_size), np.float32)
        self._top_ids = np.zeros((count, _CANDIDATES), np.int64)
        self._top_log_probs = np.zeros((count, _CANDIDATES), np.float32)
        self._binding = session.io_binding()
        self._bind()

    def place(self, index: int, position: int) -> None:
        """Let a row feed the token at this position of its target."""
        self._token[index] = self._rows[index].target[position]
        self._length[index] = position

    def run(self) -> None:
        """Run one step."""
        self._session.run_with_iobinding(self._binding)

    def outputs(self, index: int) -> tuple[Floats, Ids, Floats]:
        """Copy a row's outputs of the last step."""
        outputs = (self._log_probs, self._top_ids, self._top_log_probs)
        log_probs, top_ids, top_log_probs = (output[index].copy() for output in outputs)
        return log_probs, top_ids, top_log_probs

    def cache(self, index: int) -> Caches:
        """Return a row's cache up to its last token."""
        return self._caches[:, :, index, :, : len(self._rows[index].target)]

    def _bind(self) -> None:
        inputs: dict[str, NDArray[np.generic]] = {
            "token": self._token,
            "length": self._length,
            "source_length": self._source_length,
            "top_k": self._top_k,
        }
        outputs: dict[str, NDArray[np.generic]] = {
            "log_probs": self._log_probs,
            "top_ids": self._top_ids,
            "top_log_probs": self._top_log_probs,
        }
        written = {output.name for output in self._session.get_outputs()}
        for layer in range(len(self._caches)):
            for index, part in enumerate(_PARTS):
                for kind, caches in (("cross", self._cross), ("self", self._caches)):
                    name = f"{kind}_{part}_{layer}"
                    inputs[name] = caches[layer, index]
                    if f"{name}_out" in written:
                        outputs[f"{name}_out"] = caches[layer, index]
        for name, array in inputs.items():
            self._binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        for name, array in outputs.items():
            self._binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)


def _with_capacity(caches: Caches, least: int) -> Caches:
    """Give caches room for at least so many positions."""
    missing = max(0, least - caches.shape[4])
    return np.ascontiguousarray(np.pad(caches, [*[(0, 0)] * 4, (0, missing), (0, 0)]))


def _stepped(outputs: list[tuple[Floats, Ids, Floats]], cache: Caches) -> Stepped:
    log_probs, top_ids, top_log_probs = zip(*outputs, strict=True)
    return Stepped(np.stack(log_probs), np.stack(top_ids), np.stack(top_log_probs), cache)


def padded(rows: Sequence[tuple[int, ...]], pad: int) -> Ids:
    """Return rows as one array [batch, longest], filled up on the right."""
    ids = np.full((len(rows), max(len(row) for row in rows)), pad, np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
    return ids
