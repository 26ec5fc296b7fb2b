"""Requests out of bounds are refused by field, value and bound; the bounds themselves pass."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.engine import (
    DecodingOptions,
    EngineLimits,
    InvalidRequestError,
    NextTokenRequest,
    OnDeadline,
    Prefix,
    SamplingOptions,
    ScoreRequest,
    SpecialTokens,
    Term,
    TranslationRequest,
)
from dragoman.engine.checks import Checks
from dragoman.engine.request import Request

PAD, UNK, BOS, EOS = 0, 1, 2, 3
LIMITS = EngineLimits(max_source_tokens=8, max_target_tokens=6, max_rows=4, vocabulary_size=50)
CHECKS = Checks(LIMITS, SpecialTokens(PAD, UNK, BOS, EOS))
SOURCE = (10, 11, EOS)


def translation(**fields: Any) -> TranslationRequest:
    return TranslationRequest(**({"source_ids": SOURCE} | fields))


def next_token(**fields: Any) -> NextTokenRequest:
    return NextTokenRequest(**({"source_ids": SOURCE} | fields))


def score(**fields: Any) -> ScoreRequest:
    return ScoreRequest(**({"source_ids": SOURCE, "targets": ((10, 11),)} | fields))


@pytest.mark.parametrize(
    "request_",
    [
        translation(),
        translation(source_ids=(*range(10, 17), EOS)),
        translation(source_ids=(49, EOS)),
        translation(prefix_ids=(10, 11, 12, 13, 14)),
        translation(options=DecodingOptions(max_output_tokens=6)),
        translation(options=DecodingOptions(max_output_tokens=1)),
        next_token(),
        next_token(prefixes=(Prefix((10,) * 5),) * 64),
        next_token(top_k=50),
        next_token(queried_ids=(PAD, EOS, 49) * 33),
        score(),
        score(targets=((), (UNK, 49, 10, 11, 12)) * 32),
    ],
)
def test_what_is_within_bounds_passes(request_: Request) -> None:
    CHECKS.check(request_)


@pytest.mark.parametrize(
    ("request_", "field", "value"),
    [
        (translation(source_ids=()), "source_ids", 0),
        (translation(source_ids=(EOS,)), "source_ids", 1),
        (translation(source_ids=(*range(10, 18), EOS)), "source_ids", 9),
        (translation(source_ids=(10, 11)), "source_ids", 11),
        (translation(source_ids=(10, EOS, EOS)), "source_ids", EOS),
        (translation(source_ids=(10, EOS, 11, EOS)), "source_ids", EOS),
        (translation(source_ids=(BOS, 10, EOS)), "source_ids", BOS),
        (translation(source_ids=(50, EOS)), "source_ids", 50),
        (translation(source_ids=(-1, EOS)), "source_ids", -1),
        (translation(prefix_ids=(10,) * 6), "prefix_ids", 6),
        (translation(prefix_ids=(10, PAD)), "prefix_ids", PAD),
        (translation(prefix_ids=(EOS,)), "prefix_ids", EOS),
        (
            translation(prefix_ids=(10, 11), options=DecodingOptions(max_output_tokens=2)),
            "prefix_ids",
            2,
        ),
        (
            translation(options=DecodingOptions(max_output_tokens=0)),
            "options.max_output_tokens",
            0,
        ),
        (
            translation(options=DecodingOptions(max_output_tokens=10**9)),
            "options.max_output_tokens",
            10**9,
        ),
        (next_token(prefixes=()), "prefixes", 0),
        (next_token(prefixes=(Prefix(),) * 65), "prefixes", 65),
        (next_token(prefixes=(Prefix(), Prefix((50,)))), "prefixes[1].ids", 50),
        (next_token(prefixes=(Prefix((10,) * 6),)), "prefixes[0].ids", 6),
        (next_token(top_k=0), "top_k", 0),
        (next_token(top_k=51), "top_k", 51),
        (next_token(queried_ids=(50,)), "queried_ids", 50),
        (next_token(queried_ids=(10,) * 101), "queried_ids", 101),
        (score(source_ids=(10,)), "source_ids", 1),
        (score(targets=()), "targets", 0),
        (score(targets=((10,),) * 65), "targets", 65),
        (score(targets=((10,), (10,) * 6)), "targets[1]", 6),
        (score(targets=((10, EOS),)), "targets[0]", EOS),
        (score(targets=((50,),)), "targets[0]", 50),
    ],
)
def test_what_is_out_of_bounds_is_named(request_: Request, field: str, value: object) -> None:
    with pytest.raises(InvalidRequestError) as error:
        CHECKS.check(request_)
    assert (error.value.field, error.value.value) == (field, value)
    assert error.value.bound in str(error.value)


def options(**fields: Any) -> TranslationRequest:
    return translation(options=DecodingOptions(**fields))


def sampling(sample_count: int = 1, **fields: Any) -> TranslationRequest:
    return options(sampling=SamplingOptions(sample_count=sample_count, **fields))


def terms(*spellings: tuple[int, ...], **fields: Any) -> TranslationRequest:
    return options(beam_size=2, terms=(Term(spellings, **fields),))


@pytest.mark.parametrize(
    "request_",
    [
        options(beam_size=4, hypothesis_count=4),
        options(length_penalty=-2.0),
        options(length_penalty=2.0),
        options(patience=0, pruning_margin=0),
        options(patience=100.0, pruning_margin=100.0),
        options(min_output_tokens=6),
        options(max_output_tokens=3, min_output_tokens=3),
        sampling(temperature=0.01, top_k=0, top_p=1.0, min_p=0.0),
        sampling(temperature=10.0, top_k=1000, top_p=1e-9, min_p=0.999),
        sampling(seed=-(2**63)),
        sampling(seed=2**63 - 1),
        options(sampling=SamplingOptions(sample_count=16), hypothesis_count=16),
        options(repetition_penalty=0.1),
        options(repetition_penalty=10.0),
        options(no_repeat_ngram_size=10),
        options(suppressed_ids=(0, 49) * 500),
        options(prefix_bias=0.0),
        options(prefix_bias=0.999),
        options(alternatives=32, beam_size=4),
        options(on_deadline=OnDeadline.BEST),
        options(beam_size=2, terms=(Term(((10, 11),)),) * 2),
        options(terms=(Term(((10,) * 5,), hard=False),) * 64),
        terms(*[(10,)] * 16),
        terms((10,), hard=False, bonus=10.0),
    ],
)
def test_options_within_bounds_pass(request_: TranslationRequest) -> None:
    CHECKS.check(request_)


NAN = float("nan")


@pytest.mark.parametrize(
    ("request_", "field", "value"),
    [
        (options(beam_size=0), "beam_size", 0),
        (options(beam_size=5), "beam_size", 5),
        (options(beam_size=10_000), "beam_size", 10_000),
        (options(hypothesis_count=0), "hypothesis_count", 0),
        (options(beam_size=2, hypothesis_count=3), "hypothesis_count", 3),
        (options(hypothesis_count=10_000), "hypothesis_count", 10_000),
        (options(length_penalty=2.1), "length_penalty", 2.1),
        (options(patience=-0.1), "patience", -0.1),
        (options(patience=100.1), "patience", 100.1),
        (options(pruning_margin=-0.1), "pruning_margin", -0.1),
        (options(pruning_margin=float("inf")), "pruning_margin", float("inf")),
        (options(length_penalty=float("-inf")), "length_penalty", float("-inf")),
        (options(min_output_tokens=-1), "min_output_tokens", -1),
        (options(min_output_tokens=7), "min_output_tokens", 7),
        (options(max_output_tokens=2, min_output_tokens=3), "min_output_tokens", 3),
        (sampling(temperature=0.0), "sampling.temperature", 0.0),
        (sampling(temperature=11.0), "sampling.temperature", 11.0),
        (sampling(top_k=-1), "sampling.top_k", -1),
        (sampling(top_k=1001), "sampling.top_k", 1001),
        (sampling(top_p=0.0), "sampling.top_p", 0.0),
        (sampling(top_p=1.1), "sampling.top_p", 1.1),
        (sampling(min_p=-0.1), "sampling.min_p", -0.1),
        (sampling(min_p=1.0), "sampling.min_p", 1.0),
        (sampling(0), "sampling.sample_count", 0),
        (sampling(17), "sampling.sample_count", 17),
        (sampling(seed=2**63), "sampling.seed", 2**63),
        (options(beam_size=2, sampling=SamplingOptions()), "beam_size", 2),
        (options(repetition_penalty=0.0), "repetition_penalty", 0.0),
        (options(repetition_penalty=10.1), "repetition_penalty", 10.1),
        (options(no_repeat_ngram_size=-1), "no_repeat_ngram_size", -1),
        (options(no_repeat_ngram_size=11), "no_repeat_ngram_size", 11),
        (options(suppressed_ids=(10,) * 1001), "suppressed_ids", 1001),
        (options(suppressed_ids=(10, 50)), "suppressed_ids", 50),
        (options(suppressed_ids=(-1,)), "suppressed_ids", -1),
        (options(prefix_bias=1.0), "prefix_bias", 1.0),
        (options(prefix_bias=-0.1), "prefix_bias", -0.1),
        (options(alternatives=-1), "alternatives", -1),
        (options(alternatives=33), "alternatives", 33),
        (options(alternatives=2, beam_size=2, hypothesis_count=2), "hypothesis_count", 2),
        (
            options(alternatives=2, sampling=SamplingOptions(sample_count=2)),
            "sampling.sample_count",
            2,
        ),
        (options(alternatives=2, prefix_bias=0.5), "prefix_bias", 0.5),
        (options(terms=(Term(((10,),), hard=False),) * 65), "terms", 65),
        (options(terms=(Term(((10,) * 5,) * 7, hard=False),) * 60), "terms", 2100),
        (options(beam_size=1, terms=(Term(((10,),)),)), "beam_size", 1),
        (options(beam_size=2, terms=(Term(((10,) * 3,)),) * 2), "terms", 6),
        (terms(), "terms[0].target_ids", 0),
        (terms(*[(10,)] * 17), "terms[0].target_ids", 17),
        (terms(()), "terms[0].target_ids", 0),
        (terms((10,) * 6, hard=False), "terms[0].target_ids", 6),
        (terms((10, 50)), "terms[0].target_ids", 50),
        (terms((10, UNK)), "terms[0].target_ids", UNK),
        (terms((EOS,)), "terms[0].target_ids", EOS),
        (terms((10,), bonus=-0.1), "terms[0].bonus", -0.1),
        (terms((10,), bonus=10.1), "terms[0].bonus", 10.1),
    ],
)
def test_options_out_of_bounds_are_named(
    request_: TranslationRequest, field: str, value: object
) -> None:
    with pytest.raises(InvalidRequestError) as error:
        CHECKS.check(request_)
    assert (error.value.field, error.value.value) == (f"options.{field}", value)
    assert error.value.bound in str(error.value)


@pytest.mark.parametrize(
    "field",
    ["length_penalty", "patience", "pruning_margin", "repetition_penalty", "prefix_bias"],
)
def test_what_is_no_number_is_refused(field: str) -> None:
    with pytest.raises(InvalidRequestError, match=field):
        CHECKS.check(options(**{field: NAN}))
    for request_ in (sampling(temperature=NAN), sampling(top_p=NAN), sampling(min_p=NAN)):
        with pytest.raises(InvalidRequestError, match="sampling"):
            CHECKS.check(request_)


def test_hard_terms_must_fit_beside_the_prefix() -> None:
    wanted = DecodingOptions(beam_size=2, terms=(Term(((10, 11, 12),)),))
    CHECKS.check(translation(prefix_ids=(10, 11), options=wanted))
    with pytest.raises(InvalidRequestError, match="beside the prefix"):
        CHECKS.check(translation(prefix_ids=(10, 11, 12), options=wanted))
