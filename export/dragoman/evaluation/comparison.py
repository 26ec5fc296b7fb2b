"""Two sets of translations of the same sentences, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest
from sacrebleu.significance import Result as Significance

from dragoman.evaluation.figures import Breakdown, Figures, break_down
from dragoman.evaluation.results import Baseline, Result
from dragoman.evaluation.sentences import EvaluationSet, pick

RESAMPLES: Final = 1000


@dataclass(frozen=True, slots=True)
class Difference:
    """How figures differ from those of a baseline.

    Attributes:
        before: the baseline's.
        after: the ones compared with it.
        changed: how many translations are other texts.
        bleu_p: probability that a difference of BLEU as large comes by chance, by paired bootstrap
            resampling; None where no translation differs.
        chrf_p: the same of chrF.
    """

    before: Figures
    after: Figures
    changed: int
    bleu_p: float | None
    chrf_p: float | None

    @property
    def bleu(self) -> float:
        """Points of BLEU gained."""
        return self.after.bleu - self.before.bleu

    @property
    def chrf(self) -> float:
        """Points of chrF gained."""
        return self.after.chrf - self.before.chrf

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "bleu": self.bleu,
            "chrf": self.chrf,
            "bleu_p": self.bleu_p,
            "chrf_p": self.chrf_p,
            "changed": self.changed,
            "baseline": self.before.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A result beside a baseline.

    Attributes:
        model: the baseline's model.
        baseline: name of the baseline's decoding.
        decoding: name of the result's decoding.
        overall: over all sentences.
        domains: of each domain.
    """

    model: str
    baseline: str
    decoding: str
    overall: Difference
    domains: dict[str, Difference]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "model": self.model,
            "baseline": self.baseline,
            "decoding": self.decoding,
            "overall": self.overall.to_dict(),
            "domains": {name: entry.to_dict() for name, entry in self.domains.items()},
        }


def compare(test: EvaluationSet, result: Result, baseline: Baseline) -> Comparison:
    """Compare a result with the baseline's translations, measured anew."""
    name, earlier = baseline.outputs_like(result.decoding)
    before: Breakdown = break_down(test, earlier)
    after = result.figures

    def between(rows: Sequence[int], old: Figures, new: Figures) -> Difference:
        columns = (pick(texts, rows) for texts in (test.references, earlier, result.outputs))
        return _difference(old, new, *columns)

    domains = test.rows_by_domain()
    return Comparison(
        baseline.model,
        name,
        result.decoding.name,
        between(range(len(test)), before.overall, after.overall),
        {
            domain: between(rows, before.domains[domain], after.domains[domain])
            for domain, rows in domains.items()
        },
    )


def _difference(
    before: Figures,
    after: Figures,
    references: list[str],
    earlier: list[str],
    outputs: list[str],
) -> Difference:
    changed = sum(old != new for old, new in zip(earlier, outputs, strict=True))
    if not changed:
        # The test would call the equality of equal texts significant.
        return Difference(before, after, 0, None, None)
    metrics: Mapping[str, Metric] = {
        "BLEU": BLEU(references=[references]),
        "chrF": CHRF(references=[references]),
    }
    systems: list[tuple[str, Sequence[str]]] = [("earlier", earlier), ("outputs", outputs)]
    _, scores = PairedTest(systems, metrics, None, test_type="bs", n_samples=RESAMPLES)()
    found = {
        name: row[1].p_value for name, row in scores.items() if isinstance(row[1], Significance)
    }
    return Difference(before, after, changed, found["BLEU"], found["chrF2"])
