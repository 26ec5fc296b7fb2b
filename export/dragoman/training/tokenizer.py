"""Training the subword tokenizer: SentencePiece unigram with byte fallback."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import sentencepiece

from dragoman.training.corpus import Pair, Source, read_pairs
from dragoman.training.recipe import TokenizerSettings
from dragoman.transformer import ConfigError

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3


def train_tokenizer(sources: tuple[Source, ...], settings: TokenizerSettings, path: Path) -> None:
    """Train one model on both sides of the data and write it to `path`.

    Text is taken as it is (identity normalisation, no added or removed spaces but the leading
    one), digits stand alone, and a character outside the vocabulary becomes its UTF-8 bytes.
    """
    sample = _sample(read_pairs(sources, Counter()), settings.sample_sentences)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as writer:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample),
            model_writer=writer,
            model_type="unigram",
            vocab_size=settings.vocabulary_size,
            character_coverage=settings.character_coverage,
            byte_fallback=True,
            split_digits=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            num_threads=2,
            minloglevel=2,
        )


def load_tokenizer(path: Path, vocabulary_size: int) -> sentencepiece.SentencePieceProcessor:
    """Load a tokenizer and hold its size and special ids against what the model needs.

    Raises:
        ConfigError: Another vocabulary size, or other special ids than 0, 1, 2, 3.
    """
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    size = processor.get_piece_size()
    if size != vocabulary_size:
        raise ConfigError(
            f"tokenizer: {path.name} has {size} pieces, the model has {vocabulary_size}"
        )
    ids = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
    if ids != (PAD_ID, UNK_ID, BOS_ID, EOS_ID):
        raise ConfigError(
            f"tokenizer: special ids {ids} must be {(PAD_ID, UNK_ID, BOS_ID, EOS_ID)}"
        )
    return processor


def file_sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sample(pairs: Iterable[Pair], sentences: int) -> list[str]:
    """Draw a uniform sample of sentences (reservoir sampling, fixed seed)."""
    generator = random.Random(1)  # noqa: S311
    kept: list[str] = []
    seen = 0
    for pair in pairs:
        for text in (pair.source, pair.target):
            seen += 1
            if len(kept) < sentences:
                kept.append(text)
            elif (place := generator.randrange(seen)) < sentences:
                kept[place] = text
    if not kept:
        raise ConfigError("data.train: no usable pair in it")
    return kept
