"""What the engines are given to do, and the sentences of it."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import sentencepiece

DEV = Path(__file__).parent / "data" / "dev.tsv"
LENGTH = 32
"""Tokens of a random source, end-of-sentence included, and of what is decoded from it."""

_EOS = 3
_FIRST_TEXT_ID = 4
_LAST_ID = 8_000


@dataclass(frozen=True, slots=True)
class Job:
    """Sentences to decode together and how.

    Attributes:
        sources: token ids, each with end-of-sentence.
        beam_size: 1 is greedy.
        forced_tokens: exactly so many tokens are decoded, whatever the model thinks.
        max_tokens: most tokens where none are forced.
        batch_size: most sentences in one batch of an engine that batches statically; ours gets
            as many rows as such a batch has.
        prunes: whether a beam search of ours may give hopeless outputs up, as it does by default;
            no peer has the like.
    """

    sources: list[tuple[int, ...]]
    beam_size: int = 1
    forced_tokens: int | None = None
    max_tokens: int = 256
    batch_size: int = 32
    prunes: bool = True

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        sources = [tuple(source) for source in values.pop("sources")]
        return cls(sources=sources, **values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def batches(self) -> list[list[int]]:
        """Put sentences of like length together: lists of their places, longest first."""
        places = sorted(range(len(self.sources)), key=lambda i: -len(self.sources[i]))
        return [
            places[start : start + self.batch_size]
            for start in range(0, len(places), self.batch_size)
        ]


def random_sources(count: int, seed: int = 1) -> list[tuple[int, ...]]:
    """Give sources of no meaning, `LENGTH` tokens each."""
    generator = random.Random(seed)
    ids = range(_FIRST_TEXT_ID, _LAST_ID)
    return [(*generator.choices(ids, k=LENGTH - 1), _EOS) for _ in range(count)]


def dev_texts() -> list[str]:
    """Give the sources of the dev set."""
    return [line.split("\t")[0] for line in DEV.read_text(encoding="utf-8").splitlines()]


def dev_sources(tokenizer: Path, count: int) -> list[tuple[int, ...]]:
    """Give the first sources of the dev set as tokens, those of more than 200 left out."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    sources = [(*processor.encode(text), _EOS) for text in dev_texts()]
    return [source for source in sources if len(source) <= 200][:count]
