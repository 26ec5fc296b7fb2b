"""The tokenized corpus as flat arrays on disk, mapped into memory when it is used."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from dragoman.training.corpus import Pair, Source, read_pairs
from dragoman.training.recipe import DataSettings
from dragoman.training.tokenizer import EOS_ID, file_sha256
from dragoman.transformer import ConfigError

_CHUNK = 20_000


@dataclass(frozen=True, slots=True)
class PackedCorpus:
    """Token ids of all pairs: row i of a side is `ids[offsets[i]:offsets[i + 1]]`, EOS included."""

    source_ids: NDArray[np.uint16]
    source_offsets: NDArray[np.int64]
    target_ids: NDArray[np.uint16]
    target_offsets: NDArray[np.int64]
    origins: NDArray[np.uint8]
    origin_names: tuple[str, ...]
    rejected: dict[str, int]

    def __len__(self) -> int:
        return len(self.origins)

    def source(self, row: int) -> NDArray[np.uint16]:
        """Source ids of one pair."""
        return self.source_ids[self.source_offsets[row] : self.source_offsets[row + 1]]

    def target(self, row: int) -> NDArray[np.uint16]:
        """Target ids of one pair."""
        return self.target_ids[self.target_offsets[row] : self.target_offsets[row + 1]]

    def source_lengths(self) -> NDArray[np.int64]:
        """Tokens of each source."""
        return np.diff(self.source_offsets)

    def target_lengths(self) -> NDArray[np.int64]:
        """Tokens of each target."""
        return np.diff(self.target_offsets)


def pack(settings: DataSettings, tokenizer_path: Path, cache: Path) -> PackedCorpus:
    """Tokenize the training data once and keep it under `cache`, keyed by data and tokenizer."""
    folder = cache / _key(settings, tokenizer_path)
    if not (folder / "facts.json").exists():
        processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer_path))
        _write(_tokenize(settings, processor), folder)
    return _load(folder)


def _tokenize(
    settings: DataSettings, processor: sentencepiece.SentencePieceProcessor
) -> PackedCorpus:
    rejected: Counter[str] = Counter()
    sides: tuple[list[NDArray[np.uint16]], list[NDArray[np.uint16]]] = ([], [])
    names: dict[str, int] = {}
    origins: list[int] = []
    pairs = read_pairs(settings.train, rejected)
    while chunk := list(islice(pairs, _CHUNK)):
        for pair, source, target in _encode(chunk, processor):
            if reason := _unfit(len(source), len(target), settings):
                rejected[reason] += 1
                continue
            sides[0].append(np.asarray(source, np.uint16))
            sides[1].append(np.asarray(target, np.uint16))
            origins.append(names.setdefault(pair.origin, len(names)))
    if not origins:
        raise ConfigError("data.train: no usable pair in it")
    if len(names) > np.iinfo(np.uint8).max:
        raise ConfigError(f"data.train: {len(names)} origins, at most 255 can be told apart")
    return PackedCorpus(
        *_flatten(sides[0]),
        *_flatten(sides[1]),
        np.asarray(origins, np.uint8),
        tuple(names),
        dict(rejected),
    )


def _encode(
    chunk: list[Pair], processor: sentencepiece.SentencePieceProcessor
) -> Iterator[tuple[Pair, list[int], list[int]]]:
    sources = processor.encode([pair.source for pair in chunk])
    targets = processor.encode([pair.target for pair in chunk])
    for pair, source, target in zip(chunk, sources, targets, strict=True):
        yield pair, [*source, EOS_ID], [*target, EOS_ID]


def _unfit(source: int, target: int, settings: DataSettings) -> str | None:
    if max(source, target) > settings.max_tokens:
        return "over-long"
    # The offset spares short pairs, where a ratio says little.
    if max(source, target) + 4 > settings.max_length_ratio * (min(source, target) + 4):
        return "length ratio"
    return None


def _flatten(rows: list[NDArray[np.uint16]]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.concatenate(rows), offsets


def _key(settings: DataSettings, tokenizer_path: Path) -> str:
    names = [
        name for entry in settings.train for name in ([entry] if isinstance(entry, str) else entry)
    ]
    facts = (
        [file_sha256(Path(name)) for name in names],
        file_sha256(tokenizer_path),
        settings.max_tokens,
        settings.max_length_ratio,
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


_ARRAYS = ("source_ids", "source_offsets", "target_ids", "target_offsets", "origins")


def _write(corpus: PackedCorpus, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(corpus, name))
    facts = {"origin_names": corpus.origin_names, "rejected": corpus.rejected}
    partial = folder / "facts.json.part"
    partial.write_text(json.dumps(facts), encoding="utf-8")
    partial.rename(folder / "facts.json")


def _load(folder: Path) -> PackedCorpus:
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return PackedCorpus(
        **arrays, origin_names=tuple(facts["origin_names"]), rejected=facts["rejected"]
    )


__all__ = ["PackedCorpus", "Source", "pack"]
