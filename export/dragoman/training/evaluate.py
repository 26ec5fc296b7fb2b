"""Dev-set figures during training: cross-entropy, sacreBLEU and chrF of greedy output."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice

import numpy as np
import sacrebleu
import sentencepiece
import torch
from numpy.typing import NDArray

from dragoman.training.batches import make_batch
from dragoman.training.corpus import Pair, Source, read_pairs
from dragoman.training.decode import greedy
from dragoman.training.loss import smoothed_cross_entropy
from dragoman.transformer import Transformer


@dataclass(frozen=True, slots=True)
class DevFigures:
    """Cross-entropy in nats per token (no smoothing), BLEU and chrF in 0..100."""

    loss: float
    bleu: float
    chrf: float


class DevSet:
    """The first sentences of a dev file that fit the model."""

    def __init__(
        self,
        source: Source,
        sentences: int,
        tokenizer: sentencepiece.SentencePieceProcessor,
        max_tokens: int,
    ) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        pairs = (pair for pair in read_pairs((source,), Counter()) if self._fits(pair))
        self._pairs = list(islice(pairs, sentences))
        eos = tokenizer.eos_id()
        self._sources = [[*tokenizer.encode(pair.source), eos] for pair in self._pairs]
        self._targets = [[*tokenizer.encode(pair.target), eos] for pair in self._pairs]

    def measure(self, model: Transformer) -> DevFigures:
        """Measure the model, leaving it in the mode it was in."""
        was_training = model.training
        model.eval()
        loss = self._loss(model)
        outputs = greedy(model, self._sources, self._max_tokens)
        model.train(was_training)
        texts = self._tokenizer.decode(outputs)
        references = [[pair.target for pair in self._pairs]]
        return DevFigures(
            loss,
            sacrebleu.corpus_bleu(texts, references).score,
            sacrebleu.corpus_chrf(texts, references).score,
        )

    @torch.no_grad()
    def _loss(self, model: Transformer) -> float:
        total, tokens = 0.0, 0
        device = model.embedding.weight.device
        for start in range(0, len(self._pairs), 32):
            chosen = slice(start, start + 32)
            batch = make_batch(_arrays(self._sources[chosen]), _arrays(self._targets[chosen]))
            batch = batch.to(device)
            logits = model(batch.source_ids, batch.source_lengths, batch.target_in)
            loss = smoothed_cross_entropy(logits, batch.target_out, model.config.pad_id, 0.0)
            total += float(loss) * batch.target_tokens
            tokens += batch.target_tokens
        return total / tokens

    def _fits(self, pair: Pair) -> bool:
        sizes = (len(self._tokenizer.encode(text)) for text in (pair.source, pair.target))
        return max(sizes) < self._max_tokens


def _arrays(rows: list[list[int]]) -> list[NDArray[np.uint16]]:
    return [np.asarray(row, np.uint16) for row in rows]
