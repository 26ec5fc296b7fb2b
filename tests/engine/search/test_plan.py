"""Which searches answer which request, and how long their outputs may be."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.engine import (
    DecodingOptions,
    EngineLimits,
    SamplingOptions,
    Term,
    TranslationRequest,
)
from dragoman.engine.search import Beam, ConstrainedBeam, Greedy, Single, plan_searches
from dragoman.engine.search.plan import output_limit
from tests.engine.search.toy import EOS, VOCABULARY, A, B

LIMITS = EngineLimits(max_source_tokens=100, max_target_tokens=80, max_rows=16, vocabulary_size=8)


def request_of(prefix_ids: tuple[int, ...] = (), **options: Any) -> TranslationRequest:
    return TranslationRequest((A, B, EOS), prefix_ids, options=DecodingOptions(**options))


@pytest.mark.parametrize(
    ("options", "kind", "count"),
    [
        ({}, Greedy, 1),
        ({"min_output_tokens": 5, "max_output_tokens": 9, "length_penalty": 1.0}, Greedy, 1),
        ({"suppressed_ids": (A,)}, Single, 1),
        ({"repetition_penalty": 1.1}, Single, 1),
        ({"no_repeat_ngram_size": 2}, Single, 1),
        ({"prefix_bias": 0.0}, Single, 1),
        ({"terms": (Term(((A,),), hard=False),)}, Single, 1),
        ({"alternatives": 3}, Single, 3),
        ({"sampling": SamplingOptions(sample_count=4)}, Single, 4),
        ({"beam_size": 4}, Beam, 1),
        ({"beam_size": 4, "alternatives": 5}, Beam, 5),
        ({"beam_size": 4, "terms": (Term(((A,),), hard=False),)}, Beam, 1),
        ({"beam_size": 4, "terms": (Term(((A,),)),)}, ConstrainedBeam, 1),
    ],
)
def test_the_simplest_search_that_does(options: dict[str, Any], kind: type, count: int) -> None:
    searches = plan_searches(request_of(**options), VOCABULARY, LIMITS)
    assert [type(search) for search in searches] == [kind] * count
    assert {search.width for search in searches} == {1}
    assert {search.most_rows for search in searches} == {options.get("beam_size", 1)}


@pytest.mark.parametrize(
    ("prefix", "options", "limit"),
    [
        ((), {}, 80),
        ((), {"max_output_tokens": 7}, 7),
        ((), {"beam_size": 4, "max_output_tokens": 79}, 79),
        ((), {"beam_size": 4}, 32 + 2 * 3),
        ((A, B), {"beam_size": 4}, 2 + 32 + 2 * 3),
        ((A,) * 60, {"beam_size": 4}, 80),
        ((), {"beam_size": 4, "min_output_tokens": 50}, 50),
        ((), {"beam_size": 4, "terms": (Term(((A,) * 5, (B,) * 3)),)}, 3 + 32 + 2 * 3),
    ],
)
def test_how_long_an_output_may_be(
    prefix: tuple[int, ...], options: dict[str, Any], limit: int
) -> None:
    assert output_limit(request_of(prefix, **options), LIMITS) == limit
