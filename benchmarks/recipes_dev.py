"""Dev figures that can be compared across vocabularies: the same rows, loss per character too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import sacrebleu
import sentencepiece
import torch
from numpy.typing import NDArray

from dragoman.training.batches import make_batch
from dragoman.training.checkpoint import load_model
from dragoman.training.corpus import Pair, read_pairs
from dragoman.training.decode import greedy
from dragoman.training.loss import smoothed_cross_entropy
from dragoman.transformer import Transformer

_CHUNK = 32
_LONGEST = 128


@dataclass(frozen=True, slots=True)
class DevLoss:
    """Summed cross-entropy (nats, no smoothing, EOS included) over tokens and characters."""

    nats: float
    tokens: int
    characters: int

    @property
    def per_token(self) -> float:
        """Nats per target token."""
        return self.nats / self.tokens

    @property
    def per_character(self) -> float:
        """Nats per character of the target text."""
        return self.nats / self.characters


def read_rows(path: Path, count: int) -> list[Pair]:
    """Return the first `count` pairs of a TSV file."""
    return list(islice(read_pairs((str(path),), Counter()), count))


def dev_loss(checkpoint: Path, rows: list[Pair]) -> DevLoss:
    """Measure the loss of a checkpoint on all rows."""
    model, processor = _load(checkpoint)
    nats, tokens = 0.0, 0
    with torch.no_grad():
        for sources, targets in _chunks(processor, rows):
            batch = make_batch(_arrays(sources), _arrays(targets))
            logits = model(batch.source_ids, batch.source_lengths, batch.target_in)
            loss = smoothed_cross_entropy(logits, batch.target_out, model.config.pad_id, 0.0)
            nats += float(loss) * batch.target_tokens
            tokens += batch.target_tokens
    return DevLoss(nats, tokens, sum(len(row.target) for row in rows))


def dev_outputs(checkpoint: Path, rows: list[Pair]) -> list[str]:
    """Translate all rows greedily, from short to long.

    Without a cache the work grows with the square of an output's length, and a weak model repeats
    itself up to the limit: it is `_LONGEST` tokens, or half more than the longest source beside it.
    """
    model, processor = _load(checkpoint)
    texts: list[str] = []
    for sources, _ in _chunks(processor, rows):
        limit = min(3 * max(map(len, sources)) // 2 + 8, _LONGEST)
        texts += processor.decode(greedy(model, sources, limit))
    return texts


def scores(outputs: list[str], rows: list[Pair]) -> tuple[float, float]:
    """Return sacreBLEU and chrF of outputs in the order of `by_length(rows)`."""
    references = [[row.target for row in by_length(rows)]]
    bleu = sacrebleu.corpus_bleu(outputs, references).score
    return float(bleu), float(sacrebleu.corpus_chrf(outputs, references).score)


def by_length(rows: list[Pair]) -> list[Pair]:
    """Return the rows from short to long sources, so that a batch holds about equal lengths."""
    return sorted(rows, key=lambda row: len(row.source))


def _load(checkpoint: Path) -> tuple[Transformer, sentencepiece.SentencePieceProcessor]:
    model, tokenizer, _ = load_model(checkpoint)
    return model, sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))


def _chunks(
    processor: sentencepiece.SentencePieceProcessor, rows: list[Pair]
) -> Iterator[tuple[list[list[int]], list[list[int]]]]:
    ordered = by_length(rows)
    for start in range(0, len(ordered), _CHUNK):
        chunk = ordered[start : start + _CHUNK]
        yield (
            [[*processor.encode(row.source), processor.eos_id()] for row in chunk],
            [[*processor.encode(row.target), processor.eos_id()] for row in chunk],
        )


def _arrays(rows: list[list[int]]) -> list[NDArray[np.uint16]]:
    return [np.asarray(row, np.uint16) for row in rows]
