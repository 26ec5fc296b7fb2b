"""Targets on their way through the scorer, a batch at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.score import Alignment, TargetScore
from dragoman.engine.scorer import ScorerSession

# Between two batches sources are encoded, so this bounds how long they wait.
_BATCH_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Target:
    """An output to score: its tokens of text, and whether end-of-sentence follows."""

    token_ids: tuple[int, ...]
    ended: bool = True

    @property
    def length(self) -> int:
        """Tokens that are scored."""
        return len(self.token_ids) + self.ended


@dataclass(slots=True)
class Scoring:
    """The targets of one request and their scores so far.

    Attributes:
        targets: what is scored.
        aligned: whether alignments are wanted.
        scores: of the first targets.
    """

    targets: Sequence[Target]
    aligned: bool
    scores: list[TargetScore] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether all targets are scored."""
        return len(self.scores) == len(self.targets)

    def advance(self, scorer: ScorerSession, source: NDArray[np.float32]) -> bool:
        """Score the next batch of targets.

        Args:
            scorer: the graph.
            source: float32 [layers, 2, heads, length, head_size], the encoded source.

        Returns:
            Whether the numbers are finite.
        """
        batch = self._next_batch()
        log_probs, attention = scorer.run(
            source,
            [target.token_ids for target in batch],
            [target.length for target in batch],
            aligned=self.aligned,
        )
        if not (np.isfinite(log_probs).all() and np.isfinite(attention).all()):
            return False
        for row, target in enumerate(batch):
            length = target.length
            values = tuple(log_probs[row, :length].tolist())
            alignment = _align(attention[row, :length], target) if self.aligned else None
            self.scores.append(TargetScore(values, alignment))
        return True

    def _next_batch(self) -> Sequence[Target]:
        """Give at least one target; with alignments just one.

        The attention of a target may differ in its last bit where it is computed beside others.
        """
        left = self.targets[len(self.scores) :]
        count = 1
        if not self.aligned:
            while count < len(left) and _padded(left[: count + 1]) <= _BATCH_TOKENS:
                count += 1
        return left[:count]


def _padded(targets: Sequence[Target]) -> int:
    return len(targets) * max(target.length for target in targets)


def _align(attention: NDArray[np.float32], target: Target) -> Alignment:
    """Give the alignment of a target.

    Args:
        attention: float32 [target, source], end-of-sentence last on both axes (on the first only
            where the target has it).
        target: the target.
    """
    links = attention[: len(target.token_ids), :-1].argmax(1)
    return Alignment(tuple(map(tuple, attention.tolist())), tuple(links.tolist()))
