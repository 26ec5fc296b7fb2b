"""How much a model may lose against a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dragoman.evaluation.comparison import Comparison, Difference

OVERALL: Final = "all"

_TOLERANCE: Final = 1e-9
"""What rounding may add to a difference of scores."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The most points of BLEU, and of chrF, that may be lost; None where all may.

    Attributes:
        overall: over all sentences.
        domain: in any domain.
    """

    overall: float | None = None
    domain: float | None = None

    @property
    def is_set(self) -> bool:
        """Whether there is anything to judge."""
        return (self.overall, self.domain) != (None, None)

    def told(self) -> str:
        """The bars in words."""
        parts = ((self.overall, "over all"), (self.domain, "in a domain"))
        bars = " and ".join(f"{bar:g} {where}" for bar, where in parts if bar is not None)
        return f"Points of BLEU and of chrF that may be lost: {bars}"

    def broken(self, comparisons: Sequence[Comparison]) -> tuple[str, ...]:
        """Each loss that is larger than its bar, in words."""
        return tuple(line for entry in comparisons for line in self._broken(entry))

    def _broken(self, comparison: Comparison) -> Iterator[str]:
        where = comparison.decoding
        yield from _losses(f"{where}, {OVERALL}", comparison.overall, self.overall)
        for domain, difference in comparison.domains.items():
            yield from _losses(f"{where}, {domain}", difference, self.domain)


def _losses(where: str, difference: Difference, bar: float | None) -> Iterator[str]:
    for score, gain in (("BLEU", difference.bleu), ("chrF", difference.chrf)):
        if bar is not None and -gain > bar + _TOLERANCE:
            yield f"{where}: {-gain:.2f} points of {score} lost, at most {bar:g} allowed"
