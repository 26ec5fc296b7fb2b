"""Given translations are scored as they would have been decoded, and aligned."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from tests.engine.calls import PATIENCE, Call, Request, answers
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
    books = engine._registry._scheduler
    assert books._held_tokens == books._aligned_tokens == 0
    assert engine.statistics().pending == engine.statistics().queued == 0


@pytest.fixture(scope="module")
def fresh(engine: Engine) -> Iterator[Engine]:
    """An engine of the same bundle that keeps nothing and has one row."""
    options = EngineOptions(
        max_rows=1,
        decoder_threads=1,
        encoder_threads=1,
        source_cache_bytes=0,
        prefix_cache_bytes=0,
    )
    fresh = Engine.load(engine.bundle.directory, options)
    fresh.start()
    yield fresh
    fresh.stop()


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


@pytest.mark.parametrize("kept", ["fresh", "kept"])
def test_a_decoded_output_and_its_score_are_equal(engine: Engine, fresh: Engine, kept: str) -> None:
    """Bit for bit, whatever the way of decoding; with kept prefixes and without."""
    scorer = {"fresh": fresh, "kept": engine}[kept]
    requests = decoding_requests(engine, 40, seed=3)
    compared = 0
    for request in requests:
        if not isinstance(request, TranslationRequest):
            continue
        found = decode(engine, replace(request, stream=False))
        ended = [each for each in found if each.finish_reason is FinishReason.STOP]
        if not ended:
            continue
        given = ScoreRequest(request.source_ids, tuple(each.token_ids for each in ended))
        for hypothesis, scored in zip(ended, score(scorer, given), strict=True):
            assert scored.log_probabilities == hypothesis.log_probabilities
            assert scored.log_probability == hypothesis.log_probability
            assert scored.alignment is None
            compared += 1
    assert compared > 25


def test_a_forced_translation_and_its_score_are_equal(engine: Engine, fresh: Engine) -> None:
    """Also where the model would never have chosen it."""
    choice = random.Random(3)
    for request in translations(engine, 10, seed=1):
        [ids] = random_targets(engine, choice, 1)
        [found] = score(fresh, ScoreRequest(request.source_ids, (ids,)))
        [forced] = decode(engine, replace(request, prefix_ids=ids))
        assert found.log_probabilities[:-1] == forced.log_probabilities[: len(ids)]
        assert len(found.log_probabilities) == len(ids) + 1


@pytest.mark.parametrize("aligned", [False, True])
def test_a_score_depends_on_its_target_alone(engine: Engine, fresh: Engine, aligned: bool) -> None:
    choice = random.Random(5)
    [request] = translations(engine, 1, seed=2)
    targets = random_targets(engine, choice, 40)
    busy = [*decoding_requests(engine, 10, seed=4)]
    calls = [Call(engine, each) for each in busy]
    together = score(engine, ScoreRequest(request.source_ids, targets, aligned))
    alone = [score(fresh, ScoreRequest(request.source_ids, (ids,), aligned))[0] for ids in targets]
    for call in calls:
        call.result()
    assert list(together) == alone


def test_scores_of_mixed_traffic_are_those_of_each_request_alone(
    engine: Engine, fresh: Engine
) -> None:
    choice = random.Random(7)
    sources = [request.source_ids for request in translations(engine, 20, seed=9)]
    asked: list[Request] = []
    for source in sources:
        targets = random_targets(engine, choice, choice.randint(1, 6))
        asked.append(ScoreRequest(source, targets, choice.random() < 0.3))
    mixed = choice.sample([*asked, *decoding_requests(engine, 20, seed=6)], 40)
    found = dict(zip(map(id, mixed), answers(engine, mixed), strict=True))
    assert [found[id(each)] for each in asked] == [answers(fresh, [each])[0] for each in asked]


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
    books = hand.engine._registry._scheduler
    assert books._held_tokens == books._aligned_tokens == 0


def many_targets(hand: Hand, *, aligned: bool = False) -> ScoreRequest:
    source = translations(hand.engine, 1)[0].source_ids
    return ScoreRequest(source, ((10,) * 60,) * 10, aligned)


def test_targets_take_rows_of_the_running_batch_and_one_encoded_source(hand: Hand) -> None:
    request = many_targets(hand)
    first, second = hand.submit(request, request)
    hand.encode()
    assert len(hand.observer.of("encoded")) == 1
    hand.step(60)
    assert hand.engine.statistics().queued == 1
    assert hand.engine.statistics().running_rows == 4
    hand.finish(first, second)
    assert first.result() == second.result()
    assert hand.observer.of("scored") == [(10, 610), (10, 610)]
    assert len(hand.observer.of("admitted")) == 2
    statistics = hand.engine.statistics()
    assert statistics.slots_created == statistics.slots_released == 20
    assert statistics.steps == 5 * 61
    assert statistics.prefix_tokens_computed == 20 * 60


def test_a_score_goes_on_from_what_is_kept(tiny_bundle: Path) -> None:
    hand = Hand(tiny_bundle, reuse=True)
    [request] = translations(hand.engine, 1)
    [decoded] = hand.submit(request)
    hand.encode()
    hand.finish(decoded)
    hypothesis = decoded.hypothesis()
    steps = hand.engine.statistics().steps
    given = ScoreRequest(request.source_ids, (hypothesis.token_ids,))
    for _ in range(2):
        [scored] = hand.submit(given)
        hand.encode()
        hand.finish(scored)
        result = scored.result()
        assert isinstance(result, ScoreResult)
        assert result.scores[0].log_probabilities == hypothesis.log_probabilities
    assert hand.engine.statistics().steps == steps + 2
    assert hand.engine.statistics().prefix_tokens_reused == 2 * len(hypothesis.token_ids)
    hand.engine.stop(drain=False)


def test_alignments_take_turns_and_encodings_do_not_wait_for_them(hand: Hand) -> None:
    request = many_targets(hand, aligned=True)
    first, second = hand.submit(request, request)
    hand.encode()
    hand.step(5 * 61)
    for _ in range(3):
        hand.engine._aligner_loop.run_turn()
    done = [len(job.aligning.alignments) for job in hand.jobs() if job.aligning]
    assert done == [2, 1]
    [other] = hand.submit(TranslationRequest(request.source_ids))
    hand.encode()
    hand.finish(other)
    assert hand.align() == 17
    assert not first.over
    hand.step()
    assert first.result() == second.result()


def test_a_long_alignment_holds_up_nobody_else(
    tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scorer is held until all the others are answered."""
    options = EngineOptions(max_batch_tokens=16, decoder_threads=1, encoder_threads=1)
    engine = Engine.load(tiny_bundle, options)
    held, free = threading.Event(), threading.Event()
    scorer = engine._aligner_loop._scorer
    run = scorer.run

    def slow(*arguments: Any) -> Any:
        held.set()
        assert free.wait(PATIENCE)
        return run(*arguments)

    monkeypatch.setattr(scorer, "run", slow)
    engine.start()
    requests = translations(engine, 12)
    aligned = [replace(r, options=DecodingOptions(return_alignment=True)) for r in requests]
    waiting = [Call(engine, request) for request in aligned]
    assert held.wait(PATIENCE)
    others = answers(engine, requests)
    assert not any(call.over for call in waiting)
    assert engine.statistics().pending == 12
    free.set()
    for call, [other] in zip(waiting, others, strict=True):
        assert replace(call.hypothesis(), alignment=None) == other
    engine.stop()


@pytest.mark.parametrize("aligned", [False, True])
def test_a_score_request_ends_at_its_deadline(hand: Hand, aligned: bool) -> None:
    request = many_targets(hand, aligned=aligned)
    late, cancelled = hand.submit(replace(request, deadline=101.0), request)
    hand.encode()
    hand.step(5 * 61 if aligned else 90)
    hand.now = 102.0
    cancelled.handle.cancel()
    hand.step()
    assert isinstance(late.error(), DeadlineExceededError)
    assert isinstance(cancelled.error(), RequestCancelledError)
    assert not hand.engine._registry._scheduler._turns
    assert hand.engine.statistics().running_rows == 0


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


def test_attention_that_is_not_finite_fails_one_request(tiny_bundle_fp32: Path) -> None:
    """In fp32; int8 rounds a NaN to a number at the next product."""
    hand = Hand(tiny_bundle_fp32)
    request = many_targets(hand, aligned=True)
    spoiled, other = hand.submit(request, request)
    hand.encode()
    hand.step(5 * 61)
    job = hand.jobs()[0]
    assert job.source is not None
    job.source = np.full_like(job.source, np.nan)
    hand.align()
    hand.step()
    assert isinstance(spoiled.error(), NumericsError)
    assert other.result()
    hand.engine.stop(drain=False)
