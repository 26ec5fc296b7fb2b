"""Requests out of bounds are refused by field, value and bound; the bounds themselves pass."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.engine import (
    DecodingOptions,
    EngineLimits,
    InvalidRequestError,
    NextTokenRequest,
    Prefix,
    SpecialTokens,
    TranslationRequest,
)
from dragoman.engine.checks import Checks

PAD, UNK, BOS, EOS = 0, 1, 2, 3
LIMITS = EngineLimits(max_source_tokens=8, max_target_tokens=6, max_rows=4, vocabulary_size=50)
CHECKS = Checks(LIMITS, SpecialTokens(PAD, UNK, BOS, EOS))
SOURCE = (10, 11, EOS)


def translation(**fields: Any) -> TranslationRequest:
    return TranslationRequest(**({"source_ids": SOURCE} | fields))


def next_token(**fields: Any) -> NextTokenRequest:
    return NextTokenRequest(**({"source_ids": SOURCE} | fields))


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
    ],
)
def test_what_is_within_bounds_passes(request_: TranslationRequest | NextTokenRequest) -> None:
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
    ],
)
def test_what_is_out_of_bounds_is_named(
    request_: TranslationRequest | NextTokenRequest, field: str, value: object
) -> None:
    with pytest.raises(InvalidRequestError) as error:
        CHECKS.check(request_)
    assert (error.value.field, error.value.value) == (field, value)
    assert error.value.bound in str(error.value)
