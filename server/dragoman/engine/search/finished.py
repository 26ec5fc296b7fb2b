"""When a beam search ends, and the finished outputs that it keeps."""

import bisect
import math
from dataclasses import dataclass

from dragoman.engine.decoding import DecodingOptions
from dragoman.engine.request import Hypothesis


@dataclass(frozen=True, slots=True)
class Stopping:
    """When a beam search ends, and what it gives up before.

    Attributes:
        kept: finished outputs that are kept.
        rank: 1 to `kept`; a live output leads the search only while it can come to be one of so
            many best.
        patience: finished outputs after which the search ends at the latest, perhaps infinity.
        margin: how much less probable than the best one a continuation may be, perhaps infinity.
    """

    kept: int
    rank: int = 1
    patience: float = math.inf
    margin: float = math.inf

    @property
    def fills_up(self) -> bool:
        """Whether outputs are followed that don't lead."""
        return self.kept > self.rank

    @property
    def looked_at(self) -> float:
        """The margin beyond which nothing can be of use, not even to fill up."""
        return math.inf if self.fills_up else self.margin

    @classmethod
    def of(cls, options: DecodingOptions) -> "Stopping":
        """Give what options say."""
        size, kept = options.beam_size, options.hypothesis_count
        patience = max(1, round(size * options.patience)) if options.patience else math.inf
        margin = options.pruning_margin or math.inf
        if options.terms:
            # What was given up might have met a term; and dropping an output early would make
            # room for one of another bank: nothing may depend on how many outputs are wanted.
            return cls(size, size, patience)
        if patience == margin == math.inf:
            # What is given up can't be wanted, so this doesn't change the course.
            return cls(kept, kept)
        return cls(kept, 1, patience, margin)


class Finished:
    """Finished outputs: those that lead the search, and others to fill up with.

    No other one comes before the best of the leading ones, whatever its score, so that more wanted
    outputs never change which one is the best.

    Attributes:
        count: leading ones that have finished, those included that are not kept.
        leading: the leading ones that are kept, best first.
    """

    __slots__ = ("_others", "_stopping", "count", "leading")

    def __init__(self, stopping: Stopping) -> None:
        """Begin empty."""
        self.count = 0
        self.leading: list[Hypothesis] = []
        self._others: list[Hypothesis] = []
        self._stopping = stopping

    def add(self, hypothesis: Hypothesis, *, leads: bool) -> None:
        """Enter an output; of equal ones the earlier comes first."""
        entered = self.leading if leads else self._others
        self.count += leads
        bisect.insort(entered, hypothesis, key=_falling)
        del entered[self._stopping.kept :]

    def listed(self) -> list[Hypothesis]:
        """Give those that are kept, best first."""
        if not self._others or not self.leading:
            return self.leading
        best = self.leading[0].score
        others = [hypothesis for hypothesis in self._others if hypothesis.score <= best]
        return sorted([*self.leading, *others], key=_falling)[: self._stopping.kept]

    @property
    def enough(self) -> bool:
        """Whether the leading ones are so many that patience is over."""
        return self.count >= self._stopping.patience

    @property
    def complete(self) -> bool:
        """Whether nothing is left to look for once none leads any more."""
        stopping = self._stopping
        return stopping.patience < math.inf and len(self.listed()) >= stopping.kept

    def to_beat(self, *, leads: bool) -> float | None:
        """Give the score that an output must come to exceed, or None where any will do."""
        rank = self._stopping.rank if leads else self._stopping.kept
        found = self.leading if leads else self.listed()
        return found[rank - 1].score if len(found) >= rank else None


def _falling(hypothesis: Hypothesis) -> float:
    return -hypothesis.score
