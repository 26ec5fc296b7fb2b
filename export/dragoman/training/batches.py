"""Batches of about equal lengths, in an order that depends on seed and position only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dragoman.training.copying import Additions, CopyAugmentation
from dragoman.training.packed import PackedCorpus
from dragoman.training.tokenizer import BOS_ID, PAD_ID

_POOL_BATCHES = 64


@dataclass(frozen=True, slots=True)
class Batch:
    """Right-padded ids: `target_in` begins with BOS, `target_out` ends with EOS."""

    source_ids: Tensor  # int64 [batch, source]
    source_lengths: Tensor  # int64 [batch]
    target_in: Tensor  # int64 [batch, target]
    target_out: Tensor  # int64 [batch, target]
    target_tokens: int

    def to(self, device: torch.device) -> Batch:
        """Return the batch on `device`."""
        tensors = (self.source_ids, self.source_lengths, self.target_in, self.target_out)
        moved = [tensor.to(device, non_blocking=True) for tensor in tensors]
        return Batch(moved[0], moved[1], moved[2], moved[3], self.target_tokens)


class BatchStream:
    """An endless stream of batches that can start at any (epoch, index) again."""

    def __init__(
        self,
        corpus: PackedCorpus,
        batch_tokens: int,
        seed: int,
        origin_weights: dict[str, float],
        copying: CopyAugmentation | None = None,
    ) -> None:
        self._corpus = corpus
        self._copying = copying
        self._batch_tokens = batch_tokens
        self._seed = seed
        self._keep = np.array(
            [origin_weights.get(name, 1.0) for name in corpus.origin_names], np.float64
        )
        # [2, pairs]: sources, targets
        self._lengths = np.stack((corpus.source_lengths(), corpus.target_lengths()))

    def iterate(self, epoch: int, index: int) -> Iterator[tuple[int, int, Batch]]:
        """Yield (epoch, index after this batch, batch), endlessly."""
        while True:
            added = self._added(epoch)
            order = self._order(epoch, added)
            if not order:
                raise ValueError("data: no pair is left in an epoch; raise data.origin_weights")
            for place in range(index, len(order)):
                yield epoch, place + 1, collate(self._corpus, order[place], added)
            epoch, index = epoch + 1, 0

    def epoch_batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the rows of each batch of an epoch, shuffled."""
        return self._order(epoch, self._added(epoch))

    def _added(self, epoch: int) -> Additions | None:
        return None if self._copying is None else self._copying.draw(self._corpus, epoch)

    def _order(self, epoch: int, added: Additions | None) -> list[NDArray[np.int64]]:
        generator = np.random.default_rng((self._seed, epoch))
        kept = generator.random(len(self._corpus)) < self._keep[self._corpus.origins]
        rows = generator.permutation(np.flatnonzero(kept))
        lengths = self._lengths if added is None else self._lengths + added.lengths
        batches: list[NDArray[np.int64]] = []
        for pool in self._pools(rows, lengths):
            batches.extend(self._cut(pool, lengths))
        return [batches[place] for place in generator.permutation(len(batches))]

    def _pools(
        self, rows: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """Split the shuffled rows where another pool's worth of tokens is full."""
        tokens = np.cumsum(lengths[:, rows].max(axis=0))
        size = self._batch_tokens * _POOL_BATCHES
        total = int(tokens[-1]) if len(rows) else 0
        edges = np.searchsorted(tokens, np.arange(size, total + 1, size))
        return (pool for pool in np.split(rows, edges) if len(pool))

    def _cut(
        self, pool: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """Sort a pool by length and cut it where the padded size would pass the limit."""
        pool = pool[np.lexsort(tuple(lengths[:, pool]))]
        start, widest = 0, 0
        for place, size in enumerate(lengths[:, pool].max(axis=0)):
            widest = max(widest, int(size))
            if (place - start + 1) * widest > self._batch_tokens and place > start:
                yield pool[start:place]
                start, widest = place, int(size)
        yield pool[start:]


def collate(corpus: PackedCorpus, rows: NDArray[np.int64], added: Additions | None = None) -> Batch:
    """Pad the rows of one batch to its own longest source and target."""
    sources = [corpus.source(row) for row in rows.tolist()]
    targets = [corpus.target(row) for row in rows.tolist()]
    if added is not None:
        sources = [added.extend(*entry) for entry in zip(rows.tolist(), sources, strict=True)]
        targets = [added.extend(*entry) for entry in zip(rows.tolist(), targets, strict=True)]
    return make_batch(sources, targets)


def make_batch(sources: list[NDArray[np.uint16]], targets: list[NDArray[np.uint16]]) -> Batch:
    """Pad sources and targets (each ending with EOS) and shift the targets by BOS."""
    source_ids = _pad(sources)
    target_out = _pad(targets)
    target_in = np.full_like(target_out, PAD_ID)
    for row, target in enumerate(targets):
        target_in[row, 0] = BOS_ID
        target_in[row, 1 : len(target)] = target[:-1]
    lengths = np.array([len(source) for source in sources], np.int64)
    return Batch(
        torch.from_numpy(source_ids),
        torch.from_numpy(lengths),
        torch.from_numpy(target_in),
        torch.from_numpy(target_out),
        sum(len(target) for target in targets),
    )


def _pad(rows: list[NDArray[np.uint16]]) -> NDArray[np.int64]:
    padded = np.full((len(rows), max(len(row) for row in rows)), PAD_ID, np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded
