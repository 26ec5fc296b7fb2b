"""Refuse what is out of bounds before anything is allocated for it."""

from collections.abc import Sequence

from dragoman.engine.decoding_checks import DecodingChecks
from dragoman.engine.errors import InvalidRequestError
from dragoman.engine.options import EngineLimits
from dragoman.engine.request import (
    MAX_PREFIXES,
    MAX_QUERIED_IDS,
    MAX_TOP_K,
    NextTokenRequest,
    Request,
    TranslationRequest,
)
from dragoman.engine.score import MAX_TARGETS, ScoreRequest
from dragoman.engine.tokenizer import SpecialTokens


class Checks:
    """Checks requests against the limits of a bundle."""

    def __init__(self, limits: EngineLimits, special: SpecialTokens) -> None:
        """Remember the limits."""
        self._limits = limits
        self._special = special
        self._decoding = DecodingChecks(limits, special)
        self._no_text = frozenset((special.pad, special.bos, special.eos))

    def check(self, request: Request) -> None:
        """Check every field.

        Raises:
            InvalidRequestError: naming the first field that is out of bounds.
        """
        self._check_source(request.source_ids)
        if isinstance(request, TranslationRequest):
            self._check_translation(request)
        elif isinstance(request, ScoreRequest):
            self._check_score(request)
        else:
            self._check_next_token(request)

    def _check_source(self, ids: tuple[int, ...]) -> None:
        longest = self._limits.max_source_tokens
        if not 2 <= len(ids) <= longest:
            bound = f"2 to {longest} tokens, end-of-sentence included"
            raise InvalidRequestError("source_ids", len(ids), bound)
        if ids[-1] != self._special.eos:
            raise InvalidRequestError("source_ids", ids[-1], "end-of-sentence at the last place")
        self._check_text_ids("source_ids", ids[:-1])

    def _check_text_ids(self, field: str, ids: Sequence[int]) -> None:
        size = self._limits.vocabulary_size
        for token in ids:
            if not 0 <= token < size or token in self._no_text:
                bound = f"a token of text, 0 to {size - 1} and no control token"
                raise InvalidRequestError(field, token, bound)

    def _check_translation(self, request: TranslationRequest) -> None:
        longest = request.options.max_output_tokens or self._limits.max_target_tokens
        self._decoding.check(request.options, len(request.prefix_ids))
        self._check_prefix("prefix_ids", request.prefix_ids, longest)

    def _check_prefix(self, field: str, ids: tuple[int, ...], limit: int) -> None:
        if len(ids) >= limit:
            bound = f"fewer than the {limit} tokens that a target may have"
            raise InvalidRequestError(field, len(ids), bound)
        self._check_text_ids(field, ids)

    def _check_score(self, request: ScoreRequest) -> None:
        if not 1 <= len(request.targets) <= MAX_TARGETS:
            raise InvalidRequestError("targets", len(request.targets), f"1 to {MAX_TARGETS}")
        for index, ids in enumerate(request.targets):
            self._check_prefix(f"targets[{index}]", ids, self._limits.max_target_tokens)

    def _check_next_token(self, request: NextTokenRequest) -> None:
        if not 1 <= len(request.prefixes) <= MAX_PREFIXES:
            raise InvalidRequestError("prefixes", len(request.prefixes), f"1 to {MAX_PREFIXES}")
        for index, prefix in enumerate(request.prefixes):
            limit = self._limits.max_target_tokens
            self._check_prefix(f"prefixes[{index}].ids", prefix.ids, limit)
        most = min(MAX_TOP_K, self._limits.vocabulary_size)
        if not 1 <= request.top_k <= most:
            raise InvalidRequestError("top_k", request.top_k, f"1 to {most}")
        self._check_queried(request.queried_ids)

    def _check_queried(self, ids: tuple[int, ...]) -> None:
        if len(ids) > MAX_QUERIED_IDS:
            raise InvalidRequestError("queried_ids", len(ids), f"at most {MAX_QUERIED_IDS} tokens")
        size = self._limits.vocabulary_size
        for token in ids:
            if not 0 <= token < size:
                raise InvalidRequestError("queried_ids", token, f"0 to {size - 1}")
