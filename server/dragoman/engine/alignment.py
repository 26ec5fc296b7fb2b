"""Outputs on their way through the scorer, which tells what their tokens look at."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.cache import Values
from dragoman.engine.score import Alignment
from dragoman.engine.scorer import ScorerSession


@dataclass(frozen=True, slots=True)
class Target:
    """An output to align: its tokens of text, and whether end-of-sentence follows."""

    token_ids: tuple[int, ...]
    ended: bool = True

    @property
    def length(self) -> int:
        """Tokens that are aligned."""
        return len(self.token_ids) + self.ended


@dataclass(slots=True)
class Aligning:
    """The outputs of one request and their alignments so far.

    Attributes:
        targets: what is aligned.
        alignments: of the first targets.
    """

    targets: Sequence[Target]
    alignments: list[Alignment] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether all targets are aligned."""
        return len(self.alignments) == len(self.targets)

    def advance(self, scorer: ScorerSession, source: Values) -> bool:
        """Align the next target: alone, since company may change the last bit of its attention.

        Args:
            scorer: the graph.
            source: [layers, 2, heads, length, head_size], the encoded source.

        Returns:
            Whether the numbers are finite.
        """
        target = self.targets[len(self.alignments)]
        attention = scorer.run(source, target.token_ids, target.length)
        if not np.isfinite(attention).all():
            return False
        self.alignments.append(_align(attention, target))
        return True


def _align(attention: NDArray[np.float32], target: Target) -> Alignment:
    """Give the alignment of a target.

    Args:
        attention: float32 [target, source], end-of-sentence last on both axes (on the first only
            where the target has it).
        target: the target.
    """
    links = attention[: len(target.token_ids), :-1].argmax(1)
    return Alignment(tuple(map(tuple, attention.tolist())), tuple(links.tolist()))
