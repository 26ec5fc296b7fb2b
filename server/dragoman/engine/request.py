"""What callers hand to the engine and what they get back."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from dragoman.engine.decoding import DecodingOptions
from dragoman.engine.errors import EngineError
from dragoman.engine.score import Alignment, ScoreRequest, ScoreResult
from dragoman.engine.timing import RequestTiming

MAX_PREFIXES = 64
MAX_QUERIED_IDS = 100
MAX_TOP_K = 100


class FinishReason(Enum):
    """Why a hypothesis ended."""

    STOP = auto()
    """The model chose the end-of-sentence token."""
    LENGTH = auto()
    """The output has as many tokens as it may have, and none of them ends the sentence."""
    DEADLINE = auto()
    """The deadline came before the output ended; see `OnDeadline.BEST`."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a target.

    Attributes:
        ids: its tokens, without begin-of-sentence and end-of-sentence.
        starts_new_word: the first token after it must begin a new word: a piece that starts with
            U+2581, which excludes the end-of-sentence token.
    """

    ids: tuple[int, ...] = ()
    starts_new_word: bool = False


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """Translate one source.

    Attributes:
        source_ids: tokens of the source, the last one (and no other) end-of-sentence.
        prefix_ids: tokens that the output starts with, or, with `prefix_bias`, should start with.
        starts_new_word: see `Prefix`; log-probabilities stay the model's own, not renormalised.
        options: how to decode.
        deadline: time by `time.monotonic()` at which the request fails, or None.
        stream: whether `TokensCommitted` events are wanted.
    """

    source_ids: tuple[int, ...]
    prefix_ids: tuple[int, ...] = ()
    starts_new_word: bool = False
    options: DecodingOptions = field(default_factory=DecodingOptions)
    deadline: float | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class NextTokenRequest:
    """Ask for the distribution of the token after each of several prefixes of one source.

    Attributes:
        source_ids: as in `TranslationRequest`.
        prefixes: 1 to 64 prefixes, each answered by one `NextTokenPrediction`, in order.
        top_k: number of candidates, 1 to 100.
        queried_ids: at most 100 tokens whose log-probability and rank are wanted.
        deadline: as in `TranslationRequest`.
    """

    source_ids: tuple[int, ...]
    prefixes: tuple[Prefix, ...] = (Prefix(),)
    top_k: int = 5
    queried_ids: tuple[int, ...] = ()
    deadline: float | None = None


Request = TranslationRequest | NextTokenRequest | ScoreRequest


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One output of a translation.

    Attributes:
        token_ids: its tokens, the forced prefix included, begin- and end-of-sentence excluded.
        log_probabilities: natural logarithm of each token's probability given all before it, as
            the model gave it, whatever the options changed about the choice; where the reason is
            STOP one entry more, the end-of-sentence token's, comes last.
        finish_reason: why it ended.
        score: what hypotheses are ranked by: `log_probability`, with what the repetition penalty,
            a prefix bias and soft terms changed about it, over the length penalty; see
            `DecodingOptions`.
        met_terms: of each term of the request, whether the output contains it.
        alignment: where it was asked for and the deadline left time for it, else None.
    """

    token_ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    finish_reason: FinishReason
    score: float
    met_terms: tuple[bool, ...] = ()
    alignment: Alignment | None = None

    @property
    def log_probability(self) -> float:
        """Sum of `log_probabilities`, rounded once."""
        return math.fsum(self.log_probabilities)


@dataclass(frozen=True, slots=True)
class TranslationResult:
    """The answer to a `TranslationRequest`.

    Attributes:
        hypotheses: at least one; best first, or, where alternatives were asked for, in their order.
        source_token_count: tokens of the source, end-of-sentence included.
        timing: where the time went.
    """

    hypotheses: tuple[Hypothesis, ...]
    source_token_count: int
    timing: RequestTiming


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible next token and the natural logarithm of its probability."""

    token_id: int
    log_probability: float


@dataclass(frozen=True, slots=True)
class QueriedToken:
    """A token that the caller named; `rank` 1 is the most probable of the whole vocabulary."""

    token_id: int
    log_probability: float
    rank: int


@dataclass(frozen=True, slots=True)
class NextTokenPrediction:
    """What the model expects after one prefix.

    Attributes:
        candidates: the `top_k` most probable tokens, best first, equal ones by lowest id; where
            the prefix says `starts_new_word`, of the tokens that may start a word.
        queried: the named tokens in the order of the request.
        entropy: of the whole distribution, in nats.
    """

    candidates: tuple[Candidate, ...]
    queried: tuple[QueriedToken, ...]
    entropy: float


@dataclass(frozen=True, slots=True)
class NextTokenResult:
    """The answer to a `NextTokenRequest`, one prediction per prefix, in order."""

    predictions: tuple[NextTokenPrediction, ...]
    source_token_count: int
    timing: RequestTiming


Result = TranslationResult | NextTokenResult | ScoreResult


@dataclass(frozen=True, slots=True)
class TokensCommitted:
    """Tokens that the output will certainly contain next; never retracted."""

    token_ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """Terminal event: the request is answered."""

    result: Result


@dataclass(frozen=True, slots=True)
class Failed:
    """Terminal event: the request ended without an answer."""

    error: EngineError


Event = TokensCommitted | Finished | Failed
EventCallback = Callable[[Event], None]
