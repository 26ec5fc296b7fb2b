"""Beam search under every rule, against the slow reference on models that are tables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import DecodingOptions, FinishReason, Prefix
from dragoman.engine.search import Beam, LengthPenalty, Rules
from dragoman.engine.search.finished import Stopping
from dragoman.engine.search.rules import repeats
from tests.engine.search.toy import EOS, OTHER_WORD, SIZE, VOCABULARY, WORD, A, B, TableModel, run
from tests.reference import rules as reference
from tests.reference.search import Task, beam_search

LIMIT = 8
CASES: list[tuple[dict[str, Any], reference.Adjust]] = [
    ({"repetition_penalty": 3.0}, reference.repetition_penalty(3.0)),
    ({"repetition_penalty": 0.2}, reference.repetition_penalty(0.2)),
    ({"no_repeat_ngram_size": 1}, reference.no_repeat_ngram(1)),
    ({"no_repeat_ngram_size": 2}, reference.no_repeat_ngram(2)),
    ({"min_output_tokens": 6}, reference.minimum_length(6, EOS)),
    ({"suppressed_ids": (A, WORD)}, reference.suppress((A, WORD))),
    ({"suppressed_ids": (EOS,)}, reference.suppress((EOS,))),
    (
        {"repetition_penalty": 2.0, "no_repeat_ngram_size": 2, "suppressed_ids": (B,)},
        reference.one_after_the_other(
            reference.repetition_penalty(2.0),
            reference.no_repeat_ngram(2),
            reference.suppress((B,)),
        ),
    ),
]


def assert_as_reference(
    options: dict[str, Any],
    adjust: reference.Adjust,
    prefix: Prefix,
    seed: int,
    alpha: float,
    *,
    forced: bool = True,
) -> None:
    model = TableModel(SIZE, seed, scale=1.0)
    chosen = DecodingOptions(beam_size=3, **options)
    search = Beam(
        Rules(VOCABULARY, prefix, LIMIT, chosen), LengthPenalty(alpha, LIMIT), 3, Stopping(3, 3)
    )
    run(search, model)
    ids = prefix.ids if forced else ()
    task = Task(model.torch, EOS, VOCABULARY.never, LIMIT, alpha, ids, adjust)
    expected = beam_search(task, 3)[:3]
    found = search.hypotheses()
    assert [h.token_ids for h in found] == [output.tokens for output in expected]
    assert [h.log_probabilities for h in found] == [output.log_probs for output in expected]
    assert [h.score for h in found] == pytest.approx([o.score for o in expected], rel=1e-5)
    reasons = [h.finish_reason is FinishReason.STOP for h in found]
    assert reasons == [output.ends for output in expected]


@pytest.mark.parametrize(("options", "adjust"), CASES)
@pytest.mark.parametrize("prefix", [(), (A, B, A)])
@pytest.mark.parametrize("alpha", [-1.0, 0.6])
def test_rules(
    options: dict[str, Any], adjust: reference.Adjust, prefix: tuple[int, ...], alpha: float
) -> None:
    for seed in range(12):
        assert_as_reference(options, adjust, Prefix(prefix), seed, alpha)


@pytest.mark.parametrize("bias", [0.0, 0.4, 0.99])
def test_a_prefix_bias(bias: float) -> None:
    prefix = (A, B, A)
    adjust = reference.prefix_bias(prefix, bias)
    for seed in range(12):
        options = {"prefix_bias": bias}
        assert_as_reference(options, adjust, Prefix(prefix), seed, 0.6, forced=False)


@pytest.mark.parametrize("prefix", [(), (A, B)])
def test_a_new_word_after_the_prefix(prefix: tuple[int, ...]) -> None:
    adjust = reference.word_start(prefix, (WORD, OTHER_WORD))
    for seed in range(12):
        assert_as_reference({}, adjust, Prefix(prefix, starts_new_word=True), seed, 0.6)


@given(st.lists(st.integers(0, 3), max_size=12).map(tuple), st.integers(1, 5))
def test_a_repeat_would_complete_a_sequence_that_occurred(
    tokens: tuple[int, ...], size: int
) -> None:
    seen = {tokens[i : i + size] for i in range(len(tokens) - size + 1)}
    expected = {t for t in range(4) if (*tokens, t)[-size:] in seen and len(tokens) + 1 >= size}
    assert repeats(tokens, size) == expected
