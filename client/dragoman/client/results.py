"""What calls return: frozen values, independent of protobuf."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class FinishReason(StrEnum):
    """Why decoding ended."""

    STOP = "stop"
    """The model ended every line itself."""

    LENGTH = "length"
    """At least one line was cut at the limit of its tokens."""

    DEADLINE = "deadline"
    """At least one line was cut because the deadline neared; see `finish_at_deadline`."""

    EMPTY = "empty"
    """The text was empty or blank and came back as it is."""

    UNKNOWN = "unknown"
    """A reason that this version of the SDK does not know."""


class ServingStatus(StrEnum):
    """What a health check answers."""

    SERVING = "serving"
    """Calls are answered."""

    NOT_SERVING = "not serving"
    """Calls are refused for now."""

    UNKNOWN = "unknown"
    """The server does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputToken:
    """A token of a translation.

    Attributes:
        token_id: its id in the model's vocabulary.
        piece: the token as the vocabulary spells it, for example ``"▁Haus"`` or ``"</s>"``.
        text: the text that it stands for, its leading space included; empty for the end of
            sentence and for a part of a character.
        log_probability: the model's own, given all before it; at most 0.
    """

    token_id: int
    piece: str
    text: str
    log_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceToken:
    """A token of a source.

    Attributes:
        token_id: its id in the model's vocabulary.
        piece: the token as the vocabulary spells it.
        text: the text that it stands for.
    """

    token_id: int
    piece: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Which tokens of the source each token of an output looks at.

    Attributes:
        source_tokens: the tokens of the source, the end-of-sentence token last.
        attention: for each token of the output, end of sentence included where it is there, one
            weight for each source token; each 0 to 1, together 1.
        links: for each token of the output but the end of sentence, the place in `source_tokens`
            of the one that it looks at most, end of sentence left out.
    """

    source_tokens: tuple[SourceToken, ...]
    attention: tuple[tuple[float, ...], ...]
    links: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TermResult:
    """What became of a term.

    Attributes:
        source_line_count: lines of the source text that contain the term's source.
        met_line_count: those of them whose translation contains one of its wordings.
    """

    source_line_count: int
    met_line_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One of the outputs for a text.

    Attributes:
        text: the translated text, a prefix included.
        score: what outputs are ranked by: `log_probability`, with what a repetition penalty, a
            prefix bias and terms changed about it, over ((5 + tokens) / 6) ** `length_penalty`.
        log_probability: sum over all tokens, prefix and end-of-sentence token included; natural
            logarithm, at most 0.
        finish_reason: why it ended.
        tokens: its tokens, the end-of-sentence token included where the model ended it; only
            where `include_token_scores` or `include_alignment` asked for them.
        term_results: one for each of the call's terms, in their order.
        alignment: with the source; only where `include_alignment` asked for it and the deadline
            left time for it.
    """

    text: str
    score: float
    log_probability: float
    finish_reason: FinishReason
    tokens: tuple[OutputToken, ...] = ()
    term_results: tuple[TermResult, ...] = ()
    alignment: Alignment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """The translation of one text. The times do not count when two are compared.

    Attributes:
        text: the translated text, a forced prefix included.
        log_probability: sum over all target tokens of all lines, forced prefix and
            end-of-sentence tokens included; natural logarithm, at most 0.
        finish_reason: why decoding ended.
        source_token_count: tokens that the model read, end-of-sentence tokens included.
        target_token_count: tokens of the translation, a forced prefix included, end-of-sentence
            tokens not.
        model: name of the model that translated.
        hypotheses: the outputs, best first, or the alternatives in their order, where exactly one
            line was translated; the first one's text is `text`. Empty for any other text.
        term_results: one for each of the call's terms, in their order.
        seed: of the samples; None without `sampling`.
        queue_seconds: time from the arrival of the text until the model began its first line.
        model_seconds: time from then until the model ended its last line.
    """

    text: str
    log_probability: float
    finish_reason: FinishReason
    source_token_count: int
    target_token_count: int
    model: str
    hypotheses: tuple[Hypothesis, ...] = ()
    term_results: tuple[TermResult, ...] = ()
    seed: int | None = None
    queue_seconds: float = field(default=0.0, compare=False)
    model_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a streamed translation, not necessarily a whole word.

    Attributes:
        text: what comes after the text so far; never empty.
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A token that may come next.

    Attributes:
        token_id: its id in the model's vocabulary.
        piece: the token as the vocabulary spells it, for example ``"▁Haus"`` or ``"</s>"``.
        text: the text that it adds, its leading space included; empty for the end of sentence
            and for a part of a character.
        log_probability: the model's own log-probability of it; at most 0.
    """

    token_id: int
    piece: str
    text: str
    log_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedToken(Candidate):
    """A token that the call asked about.

    Attributes:
        rank: its place among the whole vocabulary, 1 for the likeliest.
    """

    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NextToken:
    """The model's distribution over the next token after one prefix.

    Attributes:
        candidates: the likeliest tokens, likeliest first.
        queried: the tokens that the call asked about, in its order.
        entropy: entropy over the whole vocabulary, in nats.
        prefix_token_ids: the tokens that the model read as the prefix.
        source_token_count: tokens of the source, the end-of-sentence token included.
        model: name of the model that predicted.
    """

    candidates: tuple[Candidate, ...]
    queried: tuple[QueriedToken, ...]
    entropy: float
    prefix_token_ids: tuple[int, ...]
    source_token_count: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationScore:
    """How probable a given translation is.

    Attributes:
        log_probability: sum over all tokens, end of sentence included; natural logarithm, at
            most 0. The very number of the same output where it was decoded.
        tokens: its tokens, the end-of-sentence token last.
        alignment: with the source; only where `include_alignment` asked for it.
        source_token_count: tokens of the source, the end-of-sentence token included.
        model: name of the model that scored.
    """

    log_probability: float
    tokens: tuple[OutputToken, ...]
    alignment: Alignment | None
    source_token_count: int
    model: str
