"""Given translations are scored as they would have been decoded, and aligned."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dragoman.engine import (
    Alignment,
    DeadlineExceededError,
    DecodingOptions,
    Engine,
    EngineOptions,
    FinishReason,
    Hypothesis,
    NumericsError,
    OnDeadline,
    RequestCancelledError,
    ScoreRequest,
    ScoreResult,
    TargetScore,
    TranslationRequest,
    TranslationResult,
)
from tests import number_words
from tests.engine.calls import Call, Request, answers
from tests.engine.decoding_traffic import decoding_requests
from tests.engine.hand import Hand
from tests.engine.traffic import translations


@pytest.fixture(scope="module", params=["int8", "fp32"])
def engine(
    request: pytest.FixtureRequest, tiny_bundle: Path, tiny_bundle_fp32: Path
) -> Iterator[Engine]:
    bundle = {"int8": tiny_bundle, "fp32": tiny_bundle_fp32}[request.param]
    options = EngineOptions(max_rows=8, decoder_threads=1, encoder_threads=1)
    engine = Engine.load(bundle, options)
    engine.start()
    yield engine
    engine.stop()
    assert engine._registry._scheduler._held_tokens == 0
    assert engine.statistics().pending == engine.statistics().queued == 0


def score(engine: Engine, request: ScoreRequest) -> tuple[TargetScore, ...]:
    result = Call(engine, request).result()
    assert isinstance(result, ScoreResult)
    return result.scores


def decode(engine: Engine, request: TranslationRequest) -> tuple[Hypothesis, ...]:
    result = Call(engine, request).result()
    assert isinstance(result, TranslationResult)
    return result.hypotheses


def random_targets(
    engine: Engine, choice: random.Random, count: int
) -> tuple[tuple[int, ...], ...]:
    numbers = [choice.randrange(10_000) for _ in range(count)]
    whole = [engine.tokenizer.encode(number_words.german(number)) for number in numbers]
    return tuple(ids[: choice.randrange(len(ids) + 1)] for ids in whole)


def test_a_decoded_output_and_its_score_agree(engine: Engine) -> None:
    beam = DecodingOptions(beam_size=4, hypothesis_count=4)
    for request in translations(engine, 10):
        hypotheses = decode(engine, replace(request, options=beam))
        targets = tuple(each.token_ids for each in hypotheses)
        scores = score(engine, ScoreRequest(request.source_ids, targets))
        for hypothesis, found in zip(hypotheses, scores, strict=True):
            assert hypothesis.finish_reason is FinishReason.STOP
            assert found.log_probabilities == pytest.approx(hypothesis.log_probabilities, abs=1e-3)
            assert found.log_probability == pytest.approx(hypothesis.log_probability, abs=1e-3)
            assert found.alignment is None


def test_a_forced_translation_and_its_score_agree(engine: Engine) -> None:
    """Also where the model would never have chosen it."""
    choice = random.Random(3)
    for request in translations(engine, 10, seed=1):
        [ids] = random_targets(engine, choice, 1)
        [forced] = decode(engine, replace(request, prefix_ids=ids))
        [found] = score(engine, ScoreRequest(request.source_ids, (ids,)))
        expected = forced.log_probabilities[: len(ids)]
        assert found.log_probabilities[:-1] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("aligned", [False, True])
def test_a_score_depends_on_its_target_alone(engine: Engine, aligned: bool) -> None:
    choice = random.Random(5)
    [request] = translations(engine, 1, seed=2)
    targets = random_targets(engine, choice, 40)
    together = score(engine, ScoreRequest(request.source_ids, targets, aligned))
    busy = [*decoding_requests(engine, 10, seed=4)]
    calls = [Call(engine, each) for each in busy]
    alone = [score(engine, ScoreRequest(request.source_ids, (ids,), aligned))[0] for ids in targets]
    for call in calls:
        call.result()
    assert list(together) == alone


def test_the_longest_and_the_empty_target_fit(engine: Engine) -> None:
    longest = engine.limits.max_target_tokens
    source = (*[10] * (engine.limits.max_source_tokens - 1), engine.bundle.tokens.eos)
    targets = ((), (11,) * (longest - 1))
    empty, long = score(engine, ScoreRequest(source, targets, return_alignment=True))
    assert len(empty.log_probabilities) == 1
    assert len(long.log_probabilities) == longest
    assert empty.alignment is not None
    assert empty.alignment.links == ()


def check(alignment: Alignment | None, source: tuple[int, ...], hypothesis: Hypothesis) -> None:
    assert alignment is not None
    attention = np.array(alignment.attention).reshape(-1, len(source))
    assert len(attention) == len(hypothesis.log_probabilities)
    assert len(alignment.links) == len(hypothesis.token_ids)
    assert attention.min(initial=0) >= 0
    assert attention.sum(1) == pytest.approx(1, abs=1e-4)
    for row, link in zip(attention, alignment.links, strict=False):
        assert link == row[:-1].argmax()


def test_every_kind_of_decoding_can_be_aligned(engine: Engine) -> None:
    choice = [r for r in decoding_requests(engine, 40, seed=8) if isinstance(r, TranslationRequest)]
    plain = answers(engine, choice)
    asked: list[Request] = [
        replace(each, options=replace(each.options, return_alignment=True)) for each in choice
    ]
    aligned = answers(engine, asked)
    for request, without, found in zip(choice, plain, aligned, strict=True):
        assert len(without) == len(found)
        for before, after in zip(without, found, strict=True):
            assert isinstance(before, Hypothesis)
            assert isinstance(after, Hypothesis)
            check(after.alignment, request.source_ids, after)
            assert replace(after, alignment=None) == before


def test_a_decoded_and_a_given_translation_are_aligned_alike(engine: Engine) -> None:
    [request] = translations(engine, 1, seed=6)
    [decoded] = decode(engine, replace(request, options=DecodingOptions(return_alignment=True)))
    given = ScoreRequest(request.source_ids, (decoded.token_ids,), return_alignment=True)
    assert score(engine, given)[0].alignment == decoded.alignment


def test_an_output_of_the_greatest_length_can_be_aligned(engine: Engine) -> None:
    longest = engine.limits.max_target_tokens
    source = translations(engine, 1)[0].source_ids
    options = DecodingOptions(return_alignment=True, min_output_tokens=longest)
    [found] = decode(engine, TranslationRequest(source, options=options))
    assert len(found.log_probabilities) == longest
    check(found.alignment, source, found)
    cut = DecodingOptions(return_alignment=True, max_output_tokens=2)
    [found] = decode(engine, TranslationRequest(source, options=cut))
    assert found.finish_reason is FinishReason.LENGTH
    check(found.alignment, source, found)


def test_words_are_linked_to_what_they_translate(engine: Engine) -> None:
    tokenizer = engine.tokenizer
    source = tokenizer.encode_source("nine thousand one")
    [found] = decode(
        engine, TranslationRequest(source, options=DecodingOptions(return_alignment=True))
    )
    assert found.alignment is not None
    assert tokenizer.token_text(found.token_ids[0]).strip().startswith("neun")
    assert tokenizer.token_text(source[found.alignment.links[0]]).strip() == "nine"


@pytest.fixture
def hand(tiny_bundle: Path) -> Iterator[Hand]:
    hand = Hand(tiny_bundle)
    yield hand
    hand.engine.stop(drain=False)
    assert hand.engine.statistics().pending == hand.engine.statistics().queued == 0
    assert hand.engine._registry._scheduler._held_tokens == 0


def many_targets(hand: Hand) -> ScoreRequest:
    source = translations(hand.engine, 1)[0].source_ids
    return ScoreRequest(source, ((10,) * 60,) * 10)


def test_many_targets_take_turns_with_other_requests(hand: Hand) -> None:
    request = many_targets(hand)
    first, second = hand.submit(request, request)
    hand.engine._encoder_loop.run_batch()
    assert hand.engine.statistics().queued == 0
    [other] = hand.submit(TranslationRequest(request.source_ids))
    hand.engine._encoder_loop.run_batch()
    hand.finish(other)
    assert not first.over
    turns = 0
    while hand.engine._registry._scheduler._scoring:
        hand.engine._encoder_loop.run_batch()
        turns += 1
    assert turns == 5
    hand.step()
    assert first.result() == second.result()
    assert hand.observer.of("scored") == [(10, 610), (10, 610)]


def test_a_score_request_ends_at_its_deadline(hand: Hand) -> None:
    late, cancelled = hand.submit(replace(many_targets(hand), deadline=101.0), many_targets(hand))
    for _ in range(3):
        hand.engine._encoder_loop.run_batch()
    hand.now = 102.0
    cancelled.handle.cancel()
    hand.step()
    assert isinstance(late.error(), DeadlineExceededError)
    assert isinstance(cancelled.error(), RequestCancelledError)
    assert not hand.engine._registry._scheduler._scoring


def aligned_request(hand: Hand, on_deadline: OnDeadline) -> TranslationRequest:
    options = DecodingOptions(on_deadline=on_deadline, return_alignment=True)
    source = translations(hand.engine, 1)[0].source_ids
    return TranslationRequest(source, options=options, deadline=101.0, stream=True)


def test_an_output_that_waits_for_its_alignment_keeps_its_deadline(hand: Hand) -> None:
    best, fail = hand.submit(
        aligned_request(hand, OnDeadline.BEST), aligned_request(hand, OnDeadline.FAIL)
    )
    hand.encode()
    hand.step(40)
    assert hand.engine.statistics().running_rows == 0
    assert not best.over
    hand.now = 101.0
    hand.step()
    assert best.hypothesis().alignment is None
    assert best.hypothesis().finish_reason is FinishReason.STOP
    assert isinstance(fail.error(), DeadlineExceededError)
    assert best.committed()[0] == best.hypothesis().token_ids


def test_numbers_that_are_not_finite_fail_one_request(tiny_bundle_fp32: Path) -> None:
    """In fp32; int8 rounds a NaN to a number at the next product."""
    hand = Hand(tiny_bundle_fp32)
    spoiled, other = hand.submit(many_targets(hand), many_targets(hand))
    hand.engine._encoder_loop.run_batch()
    job = hand.engine._registry._jobs[spoiled.handle._key]
    assert job.source is not None
    job.source = np.full_like(job.source, np.nan)
    while hand.engine._registry._scheduler._scoring:
        hand.engine._encoder_loop.run_batch()
    hand.step()
    assert isinstance(spoiled.error(), NumericsError)
    assert other.result()
    hand.engine.stop(drain=False)
