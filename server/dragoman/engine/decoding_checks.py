"""Bounds of the decoding options."""

from dataclasses import dataclass

from dragoman.engine.decoding import (
    MAX_ALTERNATIVES,
    MAX_BEAM_SIZE,
    MAX_BONUS,
    MAX_NGRAM_SIZE,
    MAX_PATIENCE,
    MAX_PRUNING_MARGIN,
    MAX_SAMPLES,
    MAX_SAMPLING_TOP_K,
    MAX_SUPPRESSED_IDS,
    MAX_TERM_LENGTH,
    MAX_TERM_TARGETS,
    MAX_TERM_TOKENS,
    MAX_TERMS,
    DecodingOptions,
    SamplingOptions,
    Term,
)
from dragoman.engine.errors import InvalidRequestError
from dragoman.engine.options import EngineLimits
from dragoman.engine.tokenizer import SpecialTokens

_SEEDS = range(-(1 << 63), 1 << 63)


def within(field: str, value: float, least: float, most: float) -> None:
    """Refuse a number outside its bounds, and one that isn't a number.

    Raises:
        InvalidRequestError: naming the option.
    """
    if not least <= value <= most:
        raise InvalidRequestError(f"options.{field}", value, f"{least} to {most}")


@dataclass(frozen=True, slots=True)
class DecodingChecks:
    """Checks decoding options against the limits of a bundle.

    Attributes:
        limits: of the bundle and the engine.
        special: the control tokens.
    """

    limits: EngineLimits
    special: SpecialTokens

    def check(self, options: DecodingOptions, prefix_length: int) -> None:
        """Check every option.

        Args:
            options: the options.
            prefix_length: tokens of the target's prefix.

        Raises:
            InvalidRequestError: naming the first option that is out of bounds.
        """
        self._check_lengths(options)
        self._check_beam(options)
        if options.sampling is not None:
            self._check_sampling(options, options.sampling)
        self._check_distribution(options)
        self._check_alternatives(options)
        self._check_terms(options, prefix_length)

    def _longest(self, options: DecodingOptions) -> int:
        return options.max_output_tokens or self.limits.max_target_tokens

    def _check_lengths(self, options: DecodingOptions) -> None:
        longest = self.limits.max_target_tokens
        if options.max_output_tokens is not None:
            within("max_output_tokens", options.max_output_tokens, 1, longest)
        within("min_output_tokens", options.min_output_tokens, 0, self._longest(options))

    def _check_beam(self, options: DecodingOptions) -> None:
        within("beam_size", options.beam_size, 1, min(MAX_BEAM_SIZE, self.limits.max_rows))
        samples = 1 if options.sampling is None else options.sampling.sample_count
        within("hypothesis_count", options.hypothesis_count, 1, max(options.beam_size, samples))
        within("length_penalty", options.length_penalty, -2, 2)
        within("patience", options.patience, 0, MAX_PATIENCE)
        within("pruning_margin", options.pruning_margin, 0, MAX_PRUNING_MARGIN)

    def _check_sampling(self, options: DecodingOptions, sampling: SamplingOptions) -> None:
        if options.beam_size > 1:
            raise InvalidRequestError("options.beam_size", options.beam_size, "1 with sampling")
        within("sampling.temperature", sampling.temperature, 0.01, 10)
        within("sampling.top_k", sampling.top_k, 0, MAX_SAMPLING_TOP_K)
        if not 0 < sampling.top_p <= 1:
            raise InvalidRequestError(
                "options.sampling.top_p", sampling.top_p, "above 0, at most 1"
            )
        if not 0 <= sampling.min_p < 1:
            raise InvalidRequestError("options.sampling.min_p", sampling.min_p, "0 to below 1")
        within("sampling.sample_count", sampling.sample_count, 1, MAX_SAMPLES)
        if sampling.seed not in _SEEDS:
            raise InvalidRequestError("options.sampling.seed", sampling.seed, "a 64-bit integer")

    def _check_distribution(self, options: DecodingOptions) -> None:
        within("repetition_penalty", options.repetition_penalty, 0.1, 10)
        within("no_repeat_ngram_size", options.no_repeat_ngram_size, 0, MAX_NGRAM_SIZE)
        ids, field = options.suppressed_ids, "options.suppressed_ids"
        if len(ids) > MAX_SUPPRESSED_IDS:
            raise InvalidRequestError(field, len(ids), f"at most {MAX_SUPPRESSED_IDS} tokens")
        for token in ids:
            within("suppressed_ids", token, 0, self.limits.vocabulary_size - 1)
        bias = options.prefix_bias
        if bias is not None and not 0 <= bias < 1:
            raise InvalidRequestError("options.prefix_bias", bias, "0 to below 1")

    def _check_alternatives(self, options: DecodingOptions) -> None:
        count = options.alternatives
        within("alternatives", count, 0, MAX_ALTERNATIVES)
        if count:
            samples = 1 if options.sampling is None else options.sampling.sample_count
            for field, value in (
                ("hypothesis_count", options.hypothesis_count),
                ("sampling.sample_count", samples),
            ):
                if value != 1:
                    raise InvalidRequestError(f"options.{field}", value, "1 with alternatives")
            if options.prefix_bias is not None:
                raise InvalidRequestError(
                    "options.prefix_bias", options.prefix_bias, "absent with alternatives"
                )

    def _check_terms(self, options: DecodingOptions, prefix_length: int) -> None:
        terms = options.terms
        if len(terms) > MAX_TERMS:
            raise InvalidRequestError("options.terms", len(terms), f"at most {MAX_TERMS} terms")
        for index, term in enumerate(terms):
            self._check_term(f"options.terms[{index}]", term)
        tokens = sum(len(spelling) for term in terms for spelling in term.target_ids)
        if tokens > MAX_TERM_TOKENS:
            raise InvalidRequestError("options.terms", tokens, f"at most {MAX_TERM_TOKENS} tokens")
        hard = [min(map(len, term.target_ids)) for term in terms if term.hard]
        if not hard:
            return
        if options.beam_size == 1:
            raise InvalidRequestError("options.beam_size", 1, "at least 2 with hard terms")
        left = self._longest(options) - prefix_length - 1
        if sum(hard) > left:
            bound = f"at most {left} tokens of hard terms beside the prefix"
            raise InvalidRequestError("options.terms", sum(hard), bound)

    def _check_term(self, field: str, term: Term) -> None:
        if not 1 <= len(term.target_ids) <= MAX_TERM_TARGETS:
            bound = f"1 to {MAX_TERM_TARGETS} spellings"
            raise InvalidRequestError(f"{field}.target_ids", len(term.target_ids), bound)
        for spelling in term.target_ids:
            self._check_spelling(f"{field}.target_ids", spelling)
        if not 0 <= term.bonus <= MAX_BONUS:
            raise InvalidRequestError(f"{field}.bonus", term.bonus, f"0 to {MAX_BONUS}")

    def _check_spelling(self, field: str, spelling: tuple[int, ...]) -> None:
        longest = min(MAX_TERM_LENGTH, self.limits.max_target_tokens - 1)
        if not 1 <= len(spelling) <= longest:
            raise InvalidRequestError(field, len(spelling), f"1 to {longest} tokens each")
        special, size = self.special, self.limits.vocabulary_size
        for token in spelling:
            control = token in (special.pad, special.unk, special.bos, special.eos)
            if control or not 0 <= token < size:
                bound = f"a token of text, 0 to {size - 1} and no control token"
                raise InvalidRequestError(field, token, bound)
