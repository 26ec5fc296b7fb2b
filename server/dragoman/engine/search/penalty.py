"""The length penalty of Wu et al., "Google's Neural Machine Translation System", section 7."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LengthPenalty:
    """Turns sums of log-probabilities into scores.

    Attributes:
        alpha: the exponent; above 0 favours longer outputs.
        limit: most tokens of an output.
    """

    alpha: float
    limit: int
    _at_limit: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute once what never changes."""
        object.__setattr__(self, "_at_limit", self.divisor(self.limit))

    def divisor(self, length: int) -> float:
        """Give what the sum of an output of this many tokens is divided by."""
        return math.pow((5 + length) / 6, self.alpha)

    def score(self, total: float, length: int) -> float:
        """Give the score of an output of `length` tokens whose log-probabilities sum to `total`."""
        return total / self.divisor(length)

    def best(self, total: float, length: int) -> float:
        """Bound the score of every output of `length` tokens or more that sums to `total` or less.

        The denominator rises or falls with the length throughout, so one end is the best.
        """
        return max(total / self.divisor(length), total / self._at_limit)
