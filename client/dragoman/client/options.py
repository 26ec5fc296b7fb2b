"""Options of clients and calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, TypedDict

from dragoman.client.decoding import Sampling, Term

DEFAULT_ADDRESS: Final = "127.0.0.1:50051"
"""Where a server listens unless it is told otherwise."""

DEFAULT_TIMEOUT: Final = 60.0
"""Seconds that a call may take unless the client or the call says otherwise."""

DEFAULT_MAX_ATTEMPTS: Final = 5
"""How often a call is tried unless the client says otherwise; gRPC allows no more."""

DEFAULT_KEEPALIVE_SECONDS: Final = 30.0
"""How long a connection in use may be silent before it is probed."""

DEFAULT_KEEPALIVE_TIMEOUT_SECONDS: Final = 10.0
"""How long a probe may stay unanswered before the connection counts as lost."""


class NotGiven(Enum):
    """The type of `NOT_GIVEN`, which is not None: a timeout of None means no limit at all."""

    TOKEN = "NOT_GIVEN"  # noqa: S105 - a marker, no secret

    def __repr__(self) -> str:
        return self.value


NOT_GIVEN: Final = NotGiven.TOKEN
"""Stands for an option that the caller left out; the client's own setting then holds."""

Timeout = float | None | NotGiven
"""Seconds, or None for no limit."""

Metadata = Mapping[str, str | bytes]
"""Metadata of calls, sent as headers: ASCII text, or bytes under keys that end in ``-bin``."""


@dataclass(frozen=True, slots=True)
class Tls:
    """How to encrypt and to identify the server; and this side, where the server asks for it.

    Attributes:
        root_certificates: what vouches for the server: PEM bytes, or the path of a PEM file;
            None for the certificate authorities that come with gRPC.
        certificate_chain: this side's certificate for mutual TLS, PEM bytes or a path.
        private_key: its unencrypted key, PEM bytes or a path. Both or neither.
        server_name: the name that the server's certificate must carry, where it is not the
            address; for example to reach a server by its IP address.
    """

    root_certificates: bytes | str | Path | None = None
    certificate_chain: bytes | str | Path | None = None
    private_key: bytes | str | Path | None = None
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class TokenIds:
    """A text as tokens of the model's vocabulary: a prefix, or what `next_token` and `score` read.

    Attributes:
        ids: the tokens, each 0 or more.
    """

    ids: tuple[int, ...]


class CallOptions(TypedDict, total=False):
    """Keywords of every call.

    Attributes:
        timeout: seconds for the whole call, retries included, more than 0; None for no limit on
            this side (the server has one of its own then). Default: the client's `timeout`.
        metadata: sent with the call, after the client's own.
    """

    timeout: Timeout
    metadata: Metadata


class ModelOptions(CallOptions, total=False):
    """Keywords of every call that runs a model.

    Attributes:
        model: name of the model, ``"models/..."``. Default: the client's `model`.
        source_language_code: must be the model's where it is given.
        target_language_code: must be the model's where it is given.
    """

    model: str
    source_language_code: str
    target_language_code: str


class TranslateOptions(ModelOptions, total=False):
    """Keywords of `translate` and `stream`. One that is left out, or None, has its default.

    A translation is searched for with a beam: as many outputs side by side as `beam_size` says,
    ranked by score = log-probability / ((5 + tokens) / 6) ** `length_penalty`.

    With several hypotheses, alternatives, token scores or an alignment, each text has at most one
    line that is not blank.

    Attributes:
        prefix: what each translation starts with; the texts are then single lines. A text that
            ends in a space is complete up to there; the last word of any other may go on.
            Default: no prefix.
        max_output_tokens: the most tokens that a line's translation may have, prefix and end of
            sentence included, 1 to the model's `max_target_token_count`. Default: that limit; with
            a beam, where that is less, 32 tokens and 2 for each of the line, beside prefix and
            hard terms.
        min_output_tokens: the fewest, counted in the same way; 0 to `max_output_tokens`.
            Default: 0.
        beam_size: outputs that are searched side by side, 1 to 16; 1 takes the most probable token
            at each step. Default: the server's setting, usually 4; 1 with `sampling`.
        hypothesis_count: outputs to return, best first, in `Translation.hypotheses`; 1 to
            `beam_size` or, with `sampling`, to `sample_count`. Default: 1.
        length_penalty: -2 to 2; above 0 favours longer outputs. Default: 1.
        patience: the search ends when `beam_size` x `patience` outputs have finished, or before
            that when no other can still beat the best of them; 0 to 100. 0 goes on until nothing
            better can be found. Default: 1.
        pruning_margin: continuations that are less probable than a step's best by more nats than
            this are given up; 0 to 100. 0 keeps them. Default: 1.5.
        sampling: draw translations by chance. Default: search for the most probable one.
        repetition_penalty: the log-probability of each token that the output already contains is
            multiplied by it; 0.1 to 10. Default: 1, which changes nothing.
        no_repeat_ngram_size: no sequence of so many tokens occurs twice; 0 to 10. Default: 0,
            which allows all.
        suppressed_token_ids: at most 1000 tokens that are never chosen. Default: none.
        prefix_bias: makes `prefix` a wish instead of a must: the probability of its next token
            while the output follows it; at least 0, less than 1. Default: the prefix is a must.
        alternative_count: return one hypothesis for each of so many most probable tokens after
            the prefix, each continued to its end; 0 to 32. Default: 0.
        terms: at most 64 wordings for words of the source. Default: none.
        finish_at_deadline: shortly before the time limit, return the best translation so far, with
            `FinishReason.DEADLINE`, instead of failing. Default: False.
        include_token_scores: return the tokens of each hypothesis with their log-probabilities.
            Default: False.
        include_alignment: return which source tokens each token of a hypothesis looks at, and the
            tokens. Default: False.
    """

    prefix: str | TokenIds
    max_output_tokens: int | None
    min_output_tokens: int | None
    beam_size: int | None
    hypothesis_count: int | None
    length_penalty: float | None
    patience: float | None
    pruning_margin: float | None
    sampling: Sampling | None
    repetition_penalty: float | None
    no_repeat_ngram_size: int | None
    suppressed_token_ids: list[int] | tuple[int, ...]
    prefix_bias: float | None
    alternative_count: int | None
    terms: list[Term] | tuple[Term, ...]
    finish_at_deadline: bool
    include_token_scores: bool
    include_alignment: bool
