"""Scores and alignments of translations: what callers ask for and what they get back."""

import math
from dataclasses import dataclass

from dragoman.engine.timing import RequestTiming

MAX_TARGETS = 64


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which source tokens an output looks at, by the last decoder layer's cross-attention.

    Attributes:
        attention: for each token of the output, and for the end-of-sentence token where it was
            scored, the weights that the state which predicts it gives to each source token,
            averaged over the heads: not negative, and they add up to 1.
        links: for each token of the output, end-of-sentence left out, the place from 0 of the
            source token with the largest weight, of equal ones the first. The source's
            end-of-sentence token doesn't count: it attracts weight that means nothing.
    """

    attention: tuple[tuple[float, ...], ...]
    links: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """Ask how probable given translations of one source are.

    Attributes:
        source_ids: tokens of the source, the last one (and no other) end-of-sentence.
        targets: 1 to 64 translations, each the tokens of a text without begin-of-sentence and
            end-of-sentence, fewer than the model's `max_target_tokens`; it may be empty. Each takes
            a row and a step for each token.
        return_alignment: whether their alignments are wanted.
        deadline: time by `time.monotonic()` at which the request fails, or None.
    """

    source_ids: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    return_alignment: bool = False
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class TargetScore:
    """How probable one translation is.

    Attributes:
        log_probabilities: natural logarithm of each token's probability given all before it; the
            end-of-sentence token's comes last. They are those of the same output where it was
            decoded, bit for bit.
        alignment: where it was asked for, else None.
    """

    log_probabilities: tuple[float, ...]
    alignment: Alignment | None = None

    @property
    def log_probability(self) -> float:
        """Sum of `log_probabilities`, rounded once."""
        return math.fsum(self.log_probabilities)


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """The answer to a `ScoreRequest`, one score per target, in order."""

    scores: tuple[TargetScore, ...]
    source_token_count: int
    timing: RequestTiming
