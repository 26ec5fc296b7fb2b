"""Searching for the highest rate that is still borne, by trials."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class RateSearch:
    """Widens a bracket by doubling or halving, then halves it on a logarithmic scale.

    Attributes:
        guess: rate of the first trial.
        precision: the bracket's ends differ by at most this factor in the end, such as 1.05.
        most_trials: an end whatever the trials say.
        passed: rates that were borne, in the order of the trials.
        failed: rates that were not.
    """

    guess: float
    precision: float = 1.05
    most_trials: int = 8
    stride: float = 1.5
    passed: list[float] = field(default_factory=list)
    failed: list[float] = field(default_factory=list)

    @property
    def next_rate(self) -> float | None:
        """The rate to try now; None once the answer is known."""
        if len(self.passed) + len(self.failed) >= self.most_trials:
            return None
        low, high = self.best, min(self.failed, default=None)
        if low is None:
            return self.guess if high is None else high / self.stride
        if high is None:
            return low * self.stride
        return None if high / low <= self.precision else math.sqrt(low * high)

    @property
    def best(self) -> float | None:
        """The highest rate that was borne below all that were not; None while there is none."""
        least_failed = min(self.failed, default=math.inf)
        return max((rate for rate in self.passed if rate < least_failed), default=None)

    def note(self, rate: float, *, borne: bool) -> None:
        """Enter the outcome of a trial."""
        (self.passed if borne else self.failed).append(rate)
