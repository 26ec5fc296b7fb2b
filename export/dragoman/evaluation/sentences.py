"""The test set: a TSV of source, reference and, optionally, ``domain|origin|document``."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dragoman.evaluation.errors import EvaluationError
from dragoman.training.corpus import read_pairs


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Sentences to translate, row by row.

    Attributes:
        name: name of the file, without its folder.
        sources: what is translated.
        references: how it should come out.
        domains: the first field of the third column; empty where there is none.
        rejected: lines left out, by reason.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]
    domains: tuple[str, ...]
    rejected: dict[str, int]

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all sources and references in their order: results of one can be compared."""
        digest = hashlib.sha256()
        for pair in zip(self.sources, self.references, strict=True):
            digest.update("\t".join(pair).encode() + b"\n")
        return digest.hexdigest()

    def rows_by_domain(self) -> dict[str, tuple[int, ...]]:
        """The rows of each domain, domains by name; rows without one belong to none."""
        return {
            domain: tuple(row for row, name in enumerate(self.domains) if name == domain)
            for domain in sorted(set(self.domains) - {""})
        }


def read_evaluation_set(path: Path, sentences: int | None = None) -> EvaluationSet:
    """Read a TSV file, plain, .gz or .xz; unusable lines are left out and counted.

    Args:
        path: the file.
        sentences: read only so many usable lines, the first ones.

    Raises:
        EvaluationError: there is no usable line.
        OSError: the file cannot be read.
    """
    rejected: Counter[str] = Counter()
    pairs = list(islice(read_pairs((str(path),), rejected), sentences))
    if not pairs:
        raise EvaluationError(f"{path}: no usable line ({_told(rejected) or 'it is empty'})")
    return EvaluationSet(
        path.name,
        tuple(pair.source for pair in pairs),
        tuple(pair.target for pair in pairs),
        tuple(pair.origin.partition("|")[0] for pair in pairs),
        dict(sorted(rejected.items())),
    )


def pick(texts: Sequence[str], rows: Sequence[int]) -> list[str]:
    """The texts of some rows."""
    return [texts[row] for row in rows]


def _told(rejected: Counter[str]) -> str:
    return ", ".join(f"{reason}: {count}" for reason, count in sorted(rejected.items()))
