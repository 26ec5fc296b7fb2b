"""Reads ``DecodingOptions`` of the contract into those of the engine."""

import re
import secrets
from dataclasses import dataclass, replace
from itertools import compress

from dragoman.engine import (
    DecodingOptions,
    EngineLimits,
    InvalidRequestError,
    OnDeadline,
    Prefix,
    SamplingOptions,
    Tokenizer,
)
from dragoman.engine.decoding import MAX_SAMPLES
from dragoman.engine.decoding_checks import DecodingChecks
from dragoman.server.errors import InvalidFieldError
from dragoman.server.fields import check_count, check_ids
from dragoman.server.terms import SourceTerm, read_terms
from dragoman.v1 import translation_pb2
from dragoman.v1.limits import MAX_TERM_COUNT

FIELD = "decoding_options"
_SEED_BITS = 63
_KEPT_BYTES, _KEPT_COUNT = 64, 256
_NAMES = {
    "max_output_tokens": "max_output_token_count",
    "min_output_tokens": "min_output_token_count",
    "suppressed_ids": "suppressed_token_ids",
    "alternatives": "alternative_count",
}


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the lines of one request are decoded.

    Attributes:
        options: what all lines have in common.
        terms: what applies to some of them.
        include_tokens: whether the answer tells each token.
        single_line_field: the option that needs texts of one line at most; empty where none is set.
    """

    options: DecodingOptions
    terms: tuple[SourceTerm, ...] = ()
    include_tokens: bool = False
    single_line_field: str = ""

    @property
    def seed(self) -> int | None:
        """The seed of the samples."""
        return None if self.options.sampling is None else self.options.sampling.seed

    def applying(self, line: str) -> tuple[bool, ...]:
        """Say of each term whether it applies to a line of the source."""
        return tuple(term.applies(line) for term in self.terms)


class DecodingReader:
    """Reads decoding options for one model.

    Args:
        tokenizer: the model's.
        limits: the engine's.
        default_beam_size: of requests that name none; cut to the rows that there are.
    """

    def __init__(self, tokenizer: Tokenizer, limits: EngineLimits, default_beam_size: int) -> None:
        self._tokenizer = tokenizer
        self._limits = limits
        self._checks = DecodingChecks(limits, tokenizer.special)
        self._default_beam_size = min(default_beam_size, limits.max_rows)
        self._read_before: dict[bytes, Decoding] = {}

    def read(self, message: translation_pb2.DecodingOptions, prefix: Prefix) -> Decoding:
        """Read the options of a request with this target prefix.

        A client sends the same options over and over: without a prefix, on which their bounds
        depend, and without samples, whose seed may be drawn, they are read once.

        Raises:
            InvalidFieldError: an option is out of bounds, alone or beside the others.
        """
        if prefix.ids or message.HasField("sampling"):
            return self._read(message, prefix)
        key = message.SerializeToString()
        decoding = self._read_before.get(key)
        if decoding is None:
            decoding = self._read(message, prefix)
            if len(key) <= _KEPT_BYTES and len(self._read_before) < _KEPT_COUNT:
                self._read_before[key] = decoding
        return decoding

    def _read(self, message: translation_pb2.DecodingOptions, prefix: Prefix) -> Decoding:
        check_ids(
            f"{FIELD}.suppressed_token_ids",
            message.suppressed_token_ids,
            self._limits.vocabulary_size,
        )
        check_count(f"{FIELD}.terms", message.terms, 0, MAX_TERM_COUNT)
        decoding = Decoding(
            options=self._options(message),
            terms=tuple(read_terms(f"{FIELD}.terms", message.terms, self._tokenizer)),
            include_tokens=message.include_token_scores or message.include_alignment,
            single_line_field=_single_line_field(message),
        )
        self._check(decoding, prefix)
        return decoding

    def for_line(
        self, decoding: Decoding, applying: tuple[bool, ...], prefix: Prefix
    ) -> DecodingOptions:
        """Options for a line to which these of the terms apply.

        Raises:
            InvalidFieldError: there is no room for them all.
        """
        if not any(applying):
            return decoding.options
        terms = tuple(term.term for term in compress(decoding.terms, applying))
        options = replace(decoding.options, terms=terms)
        self._check_options(options, prefix)
        return options

    def _options(self, message: translation_pb2.DecodingOptions) -> DecodingOptions:
        plain = DecodingOptions()
        given = message.HasField
        return DecodingOptions(
            max_output_tokens=(
                message.max_output_token_count if given("max_output_token_count") else None
            ),
            min_output_tokens=message.min_output_token_count,
            beam_size=message.beam_size if given("beam_size") else self._beam_size(message),
            hypothesis_count=_hypothesis_count(message),
            length_penalty=(
                message.length_penalty if given("length_penalty") else plain.length_penalty
            ),
            patience=message.patience if given("patience") else plain.patience,
            pruning_margin=(
                message.pruning_margin if given("pruning_margin") else plain.pruning_margin
            ),
            sampling=_sampling(message) if given("sampling") else None,
            repetition_penalty=(
                message.repetition_penalty
                if given("repetition_penalty")
                else plain.repetition_penalty
            ),
            no_repeat_ngram_size=message.no_repeat_ngram_size,
            suppressed_ids=tuple(message.suppressed_token_ids),
            prefix_bias=message.prefix_bias if given("prefix_bias") else None,
            alternatives=message.alternative_count,
            return_alignment=message.include_alignment,
            on_deadline=OnDeadline.BEST if message.finish_at_deadline else OnDeadline.FAIL,
        )

    def _beam_size(self, message: translation_pb2.DecodingOptions) -> int:
        return 1 if message.HasField("sampling") else self._default_beam_size

    def _check(self, decoding: Decoding, prefix: Prefix) -> None:
        options = decoding.options
        self._check_options(options, prefix)
        self._check_longest(options, prefix)
        if options.prefix_bias is not None and not prefix.ids:
            value = f"{options.prefix_bias} without a target prefix"
            raise InvalidFieldError(f"{FIELD}.prefix_bias", value, "given with one, or absent")
        for index, term in enumerate(decoding.terms):
            self._check_options(replace(options, terms=(term.term,)), prefix, index)

    def _check_longest(self, options: DecodingOptions, prefix: Prefix) -> None:
        least, longest = len(prefix.ids) + 1, options.max_output_tokens
        if longest is not None and longest < least:
            bound = f"{least} to {self._limits.max_target_tokens}"
            raise InvalidFieldError(f"{FIELD}.max_output_token_count", str(longest), bound)

    def _check_options(self, options: DecodingOptions, prefix: Prefix, term: int = 0) -> None:
        try:
            self._checks.check(options, len(prefix.ids))
        except InvalidRequestError as error:
            field = _contract_field(error.field, term)
            raise InvalidFieldError(field, str(error.value), error.bound) from None


def _hypothesis_count(message: translation_pb2.DecodingOptions) -> int:
    return message.hypothesis_count if message.HasField("hypothesis_count") else 1


def _sampling(message: translation_pb2.DecodingOptions) -> SamplingOptions:
    plain, sampling = SamplingOptions(), message.sampling
    given = sampling.HasField
    # As many samples as are wanted; that these are too many is told of the wish itself.
    wanted = min(max(_hypothesis_count(message), 1), MAX_SAMPLES)
    return SamplingOptions(
        temperature=sampling.temperature if given("temperature") else plain.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p if given("top_p") else plain.top_p,
        min_p=sampling.min_p,
        sample_count=sampling.sample_count if given("sample_count") else wanted,
        seed=sampling.seed if given("seed") else secrets.randbits(_SEED_BITS),
    )


def _single_line_field(message: translation_pb2.DecodingOptions) -> str:
    if message.hypothesis_count > 1:
        return f"{FIELD}.hypothesis_count"
    if message.alternative_count > 0:
        return f"{FIELD}.alternative_count"
    for name in ("include_token_scores", "include_alignment"):
        if getattr(message, name):
            return f"{FIELD}.{name}"
    return ""


def _contract_field(field: str, term: int) -> str:
    """How the contract spells a field of the engine's requests."""
    path = field.removeprefix("options.")
    path = re.sub(r"^terms\[0\]\.target_ids", f"terms[{term}].targets", path)
    path = re.sub(r"^terms\[0\]", f"terms[{term}]", path)
    return f"{FIELD}.{_NAMES.get(path, path)}"
