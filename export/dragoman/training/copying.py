"""Augmentation: pairs get a text on both sides that has to be copied.

Real data holds few addresses, yet users expect to find theirs in the translation; Currey et al.
(2017) teach copying by pairs whose sides are equal.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from dragoman.training.packed import PackedCorpus
from dragoman.training.verbatim import VerbatimTexts

_SPACE = "\u2581"


@dataclass(frozen=True, slots=True)
class Additions:
    """What one epoch adds to which rows: the same tokens to both sides, at the end or in front."""

    lengths: NDArray[np.int64]  # [pairs], tokens added to each row, 0 for most
    texts: dict[int, NDArray[np.uint16]]
    in_front: frozenset[int]

    def extend(self, row: int, ids: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Return the ids of one side of a row, EOS last, with what is added to it."""
        added = self.texts.get(row)
        if added is None:
            return ids
        parts = (added, ids) if row in self.in_front else (ids[:-1], added, ids[-1:])
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class CopyAugmentation:
    """Adds texts to a share of the pairs, other pairs and texts in each epoch.

    Attributes:
        processor: the tokenizer; texts stand apart from the pair's words, so that the joined ids
            are those of the joined text.
        share: of all pairs, in [0, 0.5].
        max_tokens: of a side, EOS counted; a pair that would grow beyond it stays as it is.
        seed: with the number of the epoch, it decides everything.
    """

    processor: sentencepiece.SentencePieceProcessor
    share: float
    max_tokens: int
    seed: int

    def draw(self, corpus: PackedCorpus, epoch: int) -> Additions:
        """Return the additions of an epoch."""
        # The third number sets the draw apart from that of the epoch's order.
        generator = np.random.default_rng((self.seed, epoch, 1))
        rows = np.flatnonzero(generator.random(len(corpus)) < self.share)
        widest = np.maximum(corpus.source_lengths(), corpus.target_lengths())
        found = {
            row: ids
            for row, ids in zip(rows.tolist(), self._texts(len(rows), epoch), strict=True)
            if widest[row] + len(ids) <= self.max_tokens
        }
        lengths = np.zeros(len(corpus), np.int64)
        for row, ids in found.items():
            lengths[row] = len(ids)
        in_front = rows[generator.random(len(rows)) < 1 / 3]
        return Additions(lengths, found, frozenset(in_front.tolist()))

    def _texts(self, count: int, epoch: int) -> list[NDArray[np.uint16]]:
        # A string seeds the generator alike in every process.
        generator = random.Random(f"{self.seed} {epoch}")  # noqa: S311
        texts = VerbatimTexts(generator, self._words())
        encoded = self.processor.encode([texts.make() for _ in range(count)])
        return [np.asarray(ids, np.uint16) for ids in encoded]

    def _words(self) -> list[str]:
        """Lower-case words of the vocabulary: copying shall not depend on unknown spellings."""
        pieces = map(self.processor.id_to_piece, range(self.processor.get_piece_size()))
        words = {piece.removeprefix(_SPACE) for piece in pieces}
        return sorted(w for w in words if w.isascii() and w.isalpha() and w.islower() and w[1:])
