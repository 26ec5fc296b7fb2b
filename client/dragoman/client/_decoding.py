"""From keywords to `DecodingOptions` of the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dragoman.client._values import boolean, checked_text, int32, int32s, int64, listed, real
from dragoman.client.decoding import Sampling, Term
from dragoman.v1 import translation_pb2

_FIELD: Final = "decoding_options"


def decoding_options(
    *,
    beam_size: object = None,
    hypothesis_count: object = None,
    length_penalty: object = None,
    patience: object = None,
    pruning_margin: object = None,
    sampling: object = None,
    max_output_tokens: object = None,
    min_output_tokens: object = None,
    repetition_penalty: object = None,
    no_repeat_ngram_size: object = None,
    suppressed_token_ids: object = (),
    prefix_bias: object = None,
    alternative_count: object = None,
    terms: object = (),
    finish_at_deadline: object = False,
    include_token_scores: object = False,
    include_alignment: object = False,
) -> translation_pb2.DecodingOptions | None:
    """The message for these keywords of `TranslateOptions`; None where all have their defaults.

    Raises:
        TypeError: a value is of a wrong type.
        InvalidArgumentError: a value is none that can be sent.
    """
    message = translation_pb2.DecodingOptions(
        beam_size=_optional(beam_size, "beam_size", int32),
        hypothesis_count=_optional(hypothesis_count, "hypothesis_count", int32),
        length_penalty=_optional(length_penalty, "length_penalty", real),
        patience=_optional(patience, "patience", real),
        pruning_margin=_optional(pruning_margin, "pruning_margin", real),
        sampling=None if sampling is None else _sampling(sampling),
        max_output_token_count=_optional(max_output_tokens, "max_output_token_count", int32),
        min_output_token_count=_optional(min_output_tokens, "min_output_token_count", int32),
        repetition_penalty=_optional(repetition_penalty, "repetition_penalty", real),
        no_repeat_ngram_size=_optional(no_repeat_ngram_size, "no_repeat_ngram_size", int32),
        suppressed_token_ids=int32s(suppressed_token_ids, f"{_FIELD}.suppressed_token_ids"),
        prefix_bias=_optional(prefix_bias, "prefix_bias", real),
        alternative_count=_optional(alternative_count, "alternative_count", int32),
        terms=[
            _term(term, f"{_FIELD}.terms[{index}]")
            for index, term in enumerate(listed(terms, f"{_FIELD}.terms", Term))
        ],
        finish_at_deadline=boolean(finish_at_deadline, f"{_FIELD}.finish_at_deadline"),
        include_token_scores=boolean(include_token_scores, f"{_FIELD}.include_token_scores"),
        include_alignment=boolean(include_alignment, f"{_FIELD}.include_alignment"),
    )
    return message if message.ListFields() else None


def _optional(value: object, name: str, check: Callable[[object, str], Any]) -> Any:  # noqa: ANN401 - a number
    return None if value is None else check(value, f"{_FIELD}.{name}")


def _sampling(sampling: object) -> translation_pb2.Sampling:
    if not isinstance(sampling, Sampling):
        raise TypeError(f"{_FIELD}.sampling must be Sampling, not {type(sampling).__name__}")
    return translation_pb2.Sampling(
        temperature=_optional(sampling.temperature, "sampling.temperature", real),
        top_k=_optional(sampling.top_k, "sampling.top_k", int32),
        top_p=_optional(sampling.top_p, "sampling.top_p", real),
        min_p=_optional(sampling.min_p, "sampling.min_p", real),
        sample_count=_optional(sampling.sample_count, "sampling.sample_count", int32),
        seed=_optional(sampling.seed, "sampling.seed", int64),
    )


def _term(term: object, field: str) -> translation_pb2.Term:
    if not isinstance(term, Term):
        raise TypeError(f"{field} must be a Term, not {type(term).__name__}")
    hard = boolean(term.hard, f"{field}.mode")
    return translation_pb2.Term(
        source=checked_text(term.source, f"{field}.source"),
        targets=[
            checked_text(target, f"{field}.targets[{index}]")
            for index, target in enumerate(listed(term.target, f"{field}.targets", str))
        ],
        mode=translation_pb2.TERM_MODE_HARD if hard else translation_pb2.TERM_MODE_SOFT,
        bonus=None if term.bonus is None else real(term.bonus, f"{field}.bonus"),
        match_case=boolean(term.match_case, f"{field}.match_case"),
    )
