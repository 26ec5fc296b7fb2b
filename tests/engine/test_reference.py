"""The engine on the trained model against searches in plain PyTorch, without cache or rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineOptions,
    FinishReason,
    Hypothesis,
    NextTokenRequest,
    NextTokenResult,
    Prefix,
    TranslationRequest,
    TranslationResult,
)
from tests import number_words
from tests.engine.calls import Call
from tests.reference import rules
from tests.reference.search import Output, Task, beam_search, greedy_search
from tests.reference.transformer import reference

EOS = 3
NEVER = frozenset((0, 1, 2))
LIMIT = 16
NUMBERS = number_words.split()[1][:2]
EXACT = {"length_penalty": 0.6, "patience": 0.0, "pruning_margin": 0.0}


@pytest.fixture(scope="module")
def engine(tiny_bundle_fp32: Path) -> Iterator[Engine]:
    options = EngineOptions(max_rows=16, decoder_threads=1, encoder_threads=1)
    engine = Engine.load(tiny_bundle_fp32, options)
    engine.start()
    yield engine
    engine.stop()


def source_of(engine: Engine, number: int) -> tuple[int, ...]:
    return engine.tokenizer.encode_source(number_words.english(number))


def translate(
    engine: Engine, number: int, prefix: tuple[int, ...] = (), **options: Any
) -> list[Hypothesis]:
    fields: dict[str, Any] = {"max_output_tokens": LIMIT, **EXACT, **options}
    request = TranslationRequest(
        source_of(engine, number),
        prefix,
        options=DecodingOptions(**fields),
    )
    result = Call(engine, request).result()
    assert isinstance(result, TranslationResult)
    return list(result.hypotheses)


def task(
    engine: Engine,
    checkpoint: Path,
    number: int,
    *,
    alpha: float = 0.6,
    prefix: tuple[int, ...] = (),
    adjust: rules.Adjust | None = None,
) -> Task:
    model = reference(checkpoint, source_of(engine, number))
    return Task(model, EOS, NEVER, LIMIT, alpha, prefix, adjust)


def assert_same(hypothesis: Hypothesis, output: Output) -> None:
    assert hypothesis.token_ids == output.tokens
    assert (hypothesis.finish_reason is FinishReason.STOP) == output.ends
    assert hypothesis.log_probabilities == pytest.approx(output.log_probs, abs=1e-3)
    assert hypothesis.score == pytest.approx(output.score, abs=1e-3)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6, 1.0])
def test_beam_search(engine: Engine, tiny_checkpoint: Path, number: int, alpha: float) -> None:
    found = translate(engine, number, beam_size=3, hypothesis_count=3, length_penalty=alpha)
    expected = beam_search(task(engine, tiny_checkpoint, number, alpha=alpha), 3)
    for hypothesis, output in zip(found, expected[:3], strict=True):
        assert_same(hypothesis, output)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("patience", "margin"), [(0.5, 0.0), (1.0, 1.5), (2.0, 0.5), (0.0, 0.7)])
def test_impatient_beam_search(
    engine: Engine, tiny_checkpoint: Path, number: int, patience: float, margin: float
) -> None:
    [found] = translate(engine, number, beam_size=3, patience=patience, pruning_margin=margin)
    wanted = task(engine, tiny_checkpoint, number)
    assert_same(found, beam_search(wanted, 3, patience, margin)[0])


@pytest.mark.parametrize("number", NUMBERS)
def test_a_forced_prefix_with_beams(engine: Engine, tiny_checkpoint: Path, number: int) -> None:
    prefix = engine.tokenizer.encode(number_words.german(number + 1))[:3]
    found = translate(engine, number, prefix, beam_size=4, hypothesis_count=2)
    expected = beam_search(task(engine, tiny_checkpoint, number, prefix=prefix), 4)
    for hypothesis, output in zip(found, expected[:2], strict=True):
        assert hypothesis.token_ids[:3] == prefix
        assert_same(hypothesis, output)


@pytest.mark.parametrize("number", NUMBERS)
def test_greedy(engine: Engine, tiny_checkpoint: Path, number: int) -> None:
    [found] = translate(engine, number)
    assert_same(found, greedy_search(task(engine, tiny_checkpoint, number)))


RULES: list[tuple[dict[str, Any], rules.Adjust]] = [
    ({"repetition_penalty": 1.8}, rules.repetition_penalty(1.8)),
    ({"no_repeat_ngram_size": 1}, rules.no_repeat_ngram(1)),
    ({"no_repeat_ngram_size": 2}, rules.no_repeat_ngram(2)),
    ({"min_output_tokens": 13}, rules.minimum_length(13, EOS)),
    ({"suppressed_ids": tuple(range(20, 200, 3))}, rules.suppress(range(20, 200, 3))),
    (
        {"repetition_penalty": 0.7, "no_repeat_ngram_size": 3},
        rules.one_after_the_other(rules.repetition_penalty(0.7), rules.no_repeat_ngram(3)),
    ),
]


@pytest.mark.parametrize(("options", "adjust"), RULES, ids=[str(options) for options, _ in RULES])
@pytest.mark.parametrize("beam", [1, 3])
def test_rules(
    engine: Engine,
    tiny_checkpoint: Path,
    options: dict[str, Any],
    adjust: rules.Adjust,
    beam: int,
) -> None:
    number = NUMBERS[1]
    [found] = translate(engine, number, beam_size=beam, **options)
    wanted = task(engine, tiny_checkpoint, number, adjust=adjust)
    expected = greedy_search(wanted) if beam == 1 else beam_search(wanted, beam)[0]
    assert_same(found, expected)


@pytest.mark.parametrize("bias", [0.0, 0.3, 0.95])
@pytest.mark.parametrize("beam", [1, 3])
def test_a_prefix_bias(engine: Engine, tiny_checkpoint: Path, bias: float, beam: int) -> None:
    number = NUMBERS[0]
    prefix = engine.tokenizer.encode(number_words.german(number + 1))[:4]
    [found] = translate(engine, number, prefix, beam_size=beam, prefix_bias=bias)
    adjust = rules.prefix_bias(prefix, bias)
    wanted = task(engine, tiny_checkpoint, number, adjust=adjust)
    expected = greedy_search(wanted) if beam == 1 else beam_search(wanted, beam)[0]
    assert_same(found, expected)
    if bias == 0.95:
        assert found.token_ids[:4] == prefix


@pytest.mark.parametrize("beam", [1, 3])
def test_alternatives_are_the_next_tokens_each_continued(
    engine: Engine, tiny_checkpoint: Path, beam: int
) -> None:
    number = NUMBERS[0]
    prefix = engine.tokenizer.encode(number_words.german(number))[:2]
    found = translate(engine, number, prefix, beam_size=beam, alternatives=5)
    request = NextTokenRequest(source_of(engine, number), (Prefix(prefix),), top_k=5)
    result = Call(engine, request).result()
    assert isinstance(result, NextTokenResult)
    candidates = result.predictions[0].candidates
    for hypothesis, candidate in zip(found, candidates, strict=True):
        if candidate.token_id == EOS:
            assert hypothesis.token_ids == prefix
            continue
        longer = (*prefix, candidate.token_id)
        wanted = task(engine, tiny_checkpoint, number, prefix=longer)
        expected = greedy_search(wanted) if beam == 1 else beam_search(wanted, beam)[0]
        assert_same(hypothesis, expected)
        assert hypothesis.log_probabilities[2] == candidate.log_probability
