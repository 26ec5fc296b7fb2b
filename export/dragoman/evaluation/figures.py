"""All figures of a set of translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from dragoman.evaluation.defects import has_letters, is_copy, is_empty, is_loop
from dragoman.evaluation.rates import Rate
from dragoman.evaluation.sentences import EvaluationSet, pick
from dragoman.evaluation.survival import addresses, numbers, placeholders, survival


@dataclass(frozen=True, slots=True)
class Traits:
    """What can be told of outputs beside their sources alone.

    Attributes:
        copies: outputs equal to their sources, of the sources that have letters.
        loops: outputs that repeat themselves (`is_loop`), of all.
        empties: outputs with nothing in them, of all.
        placeholders: placeholders of the sources that their outputs have too.
        numbers: the same for numbers.
        addresses: the same for URLs and e-mail addresses.
    """

    copies: Rate
    loops: Rate
    empties: Rate
    placeholders: Rate
    numbers: Rate
    addresses: Rate

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: getattr(self, name).to_dict() for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Figures:
    """What is measured of a set of sentences.

    Attributes:
        sentences: how many there are.
        bleu: sacreBLEU, 0 to 100.
        chrf: chrF, 0 to 100.
        length_ratio: characters of all outputs by characters of all references.
        traits: the figures that need no reference.
    """

    sentences: int
    bleu: float
    chrf: float
    length_ratio: float
    traits: Traits

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "sentences": self.sentences,
            "bleu": self.bleu,
            "chrf": self.chrf,
            "length_ratio": self.length_ratio,
            **self.traits.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Figures over all sentences and of each domain."""

    overall: Figures
    domains: dict[str, Figures]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        domains = {name: figures.to_dict() for name, figures in self.domains.items()}
        return {"overall": self.overall.to_dict(), "domains": domains}


def break_down(test: EvaluationSet, outputs: Sequence[str]) -> Breakdown:
    """Measure the outputs for all rows of a test set."""

    def measured(rows: Sequence[int]) -> Figures:
        columns = (pick(texts, rows) for texts in (test.sources, test.references, outputs))
        return measure(*columns)

    domains = test.rows_by_domain()
    return Breakdown(
        measured(range(len(test))), {name: measured(rows) for name, rows in domains.items()}
    )


def measure(sources: Sequence[str], references: Sequence[str], outputs: Sequence[str]) -> Figures:
    """Measure outputs, one for each source and reference; there is at least one."""
    return Figures(
        len(sources),
        BLEU().corpus_score(outputs, [references]).score,
        CHRF().corpus_score(outputs, [references]).score,
        sum(map(len, outputs)) / sum(map(len, references)),
        traits(sources, outputs),
    )


def traits(sources: Sequence[str], outputs: Sequence[str]) -> Traits:
    """Tell copies, loops, empty outputs and what survives."""
    pairs = list(zip(sources, outputs, strict=True))
    return Traits(
        Rate(sum(is_copy(*pair) for pair in pairs), sum(map(has_letters, sources))),
        Rate(sum(is_loop(*pair) for pair in pairs), len(pairs)),
        Rate(sum(map(is_empty, outputs)), len(pairs)),
        survival(placeholders, sources, outputs),
        survival(numbers, sources, outputs),
        survival(addresses, sources, outputs),
    )


def signatures() -> dict[str, str]:
    """How sacrebleu computes the scores: what makes figures comparable between papers."""
    found = {}
    for name, metric in (("BLEU", BLEU()), ("chrF", CHRF())):
        metric.corpus_score(["one"], [["one"]])  # it does not know the number of references before
        found[name] = str(metric.get_signature())
    return found
