"""The data of our own run as text files: the same pairs, the same pieces, the same dev rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from dragoman.training.batches import BatchStream
from dragoman.training.corpus import Pair
from dragoman.training.packed import PackedCorpus
from dragoman.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Drawn:
    """How many pairs, target tokens (EOS included) and of our updates were written."""

    pairs: int
    target_tokens: int
    updates: int


def write_vocabulary(tokenizer: Path, path: Path) -> int:
    """Write one piece a line in the order of their ids; return how many there are."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    pieces = [processor.id_to_piece(place) for place in range(processor.get_piece_size())]
    path.write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    return len(pieces)


def write_train(
    corpus: PackedCorpus, recipe: Recipe, tokenizer: Path, tokens: int, folder: Path
) -> Drawn:
    """Write the pairs of our run's first `tokens` target tokens as train.src and train.tgt."""
    loop = recipe.training
    stream = BatchStream(corpus, loop.batch_tokens, loop.seed, recipe.data.origin_weights)
    lengths = corpus.target_lengths()
    batches = _first(stream.epoch_batches(0), lengths, tokens)
    rows = np.concatenate(batches)
    np.random.default_rng(loop.seed).shuffle(rows)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    _write(folder / "train.src", [corpus.source(int(row)) for row in rows], processor)
    _write(folder / "train.tgt", [corpus.target(int(row)) for row in rows], processor)
    return Drawn(len(rows), int(lengths[rows].sum()), len(batches))


def write_dev(rows: list[Pair], folder: Path) -> None:
    """Write the dev rows as dev.src and dev.tgt, in their order."""
    for name, texts in (
        ("dev.src", [row.source for row in rows]),
        ("dev.tgt", [row.target for row in rows]),
    ):
        (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def _first(
    batches: list[NDArray[np.int64]], lengths: NDArray[np.int64], tokens: int
) -> list[NDArray[np.int64]]:
    totals = np.cumsum([int(lengths[rows].sum()) for rows in batches])
    if totals[-1] < tokens:
        raise ValueError(f"--tokens: {tokens:,} are more than one epoch's {totals[-1]:,}")
    return batches[: int(np.searchsorted(totals, tokens)) + 1]


def _write(
    path: Path,
    rows: list[NDArray[np.uint16]],
    processor: sentencepiece.SentencePieceProcessor,
) -> None:
    """Write the rows as text; decoding is exact, and encoding it again gives the same pieces."""
    texts = processor.decode([row[:-1].tolist() for row in rows])
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
