"""The step loop driven by hand: each test decides what happens between which steps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dragoman.engine import (
    DeadlineExceededError,
    DecodingOptions,
    FinishReason,
    NextTokenRequest,
    NumericsError,
    Prefix,
    RequestCancelledError,
    TokensCommitted,
    TranslationRequest,
    TranslationResult,
)
from tests.engine.calls import Call, Solo, answer
from tests.engine.hand import Hand
from tests.engine.traffic import mixed_requests, translations


@pytest.fixture
def hand(tiny_bundle: Path) -> Iterator[Hand]:
    hand = Hand(tiny_bundle)
    yield hand
    hand.engine.stop(drain=False)
    statistics = hand.engine.statistics()
    assert statistics.slots_created == statistics.slots_released
    assert statistics.queued == statistics.pending == statistics.running_rows == 0


def test_a_step_feeds_one_token_to_each_row(hand: Hand, solo: Solo) -> None:
    request = translations(solo.engine, 1)[0]
    hypothesis = solo.translate(request)
    [call] = hand.submit(request)
    hand.encode()
    hand.finish(call)
    steps = len(hypothesis.log_probabilities)
    assert hand.engine.statistics().steps == steps
    assert hand.observer.of("step") == [(1,)] * steps


def test_rows_that_join_at_any_step_give_what_they_give_alone(hand: Hand, solo: Solo) -> None:
    requests = mixed_requests(solo.engine, 40, seed=1)
    expected = [solo.answer(request) for request in requests]
    choice = random.Random(2)
    calls: list[Call] = []
    while len(calls) < len(requests) or not all(call.over for call in calls):
        if choice.random() < 0.3:
            calls += hand.submit(*requests[len(calls) : len(calls) + choice.randrange(1, 4)])
        if choice.random() < 0.7:
            hand.encode()
        hand.step(choice.randrange(3))
    assert [answer(call.result()) for call in calls] == expected


def test_a_finished_row_costs_nothing_from_the_next_step_on(hand: Hand, solo: Solo) -> None:
    source = translations(solo.engine, 1)[0].source_ids
    lengths = (2, 5)
    calls = hand.submit(
        *[
            TranslationRequest(source, options=DecodingOptions(max_output_tokens=length))
            for length in lengths
        ]
    )
    hand.encode()
    hand.finish(*calls)
    assert hand.observer.of("step") == [(2,), (2,), (1,), (1,), (1,)]


def test_a_newcomer_takes_a_row_at_the_step_after_it_became_free(hand: Hand, solo: Solo) -> None:
    source = translations(solo.engine, 1)[0].source_ids
    request = TranslationRequest(source, options=DecodingOptions(max_output_tokens=3))
    calls = hand.submit(*[request] * 6)
    hand.encode()
    hand.finish(*calls)
    assert hand.observer.of("step") == [(4,)] * 3 + [(2,)] * 3


@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_the_finish_reason_is_right_around_the_natural_length(
    hand: Hand, solo: Solo, excess: int
) -> None:
    request = translations(solo.engine, 1)[0]
    natural = solo.translate(request)
    assert natural.finish_reason is FinishReason.STOP
    limit = len(natural.token_ids) + 1 + excess
    options = DecodingOptions(max_output_tokens=limit)
    [call] = hand.submit(TranslationRequest(request.source_ids, options=options))
    hand.encode()
    hand.finish(call)
    hypothesis = call.hypothesis()
    assert hypothesis.token_ids == natural.token_ids[:limit]
    reason = FinishReason.LENGTH if excess < 0 else FinishReason.STOP
    assert hypothesis.finish_reason is reason


def test_the_longest_source_and_the_longest_output_fit(hand: Hand) -> None:
    limits, eos = hand.engine.limits, hand.engine.bundle.tokens.eos
    source = (*[10] * (limits.max_source_tokens - 1), eos)
    prefix = (11,) * (limits.max_target_tokens - 1)
    call, other = hand.submit(
        TranslationRequest(source, prefix), NextTokenRequest(source, (Prefix(prefix),))
    )
    hand.encode()
    hand.finish(call, other)
    hypothesis = call.hypothesis()
    assert hypothesis.token_ids[: len(prefix)] == prefix
    assert len(hypothesis.log_probabilities) == limits.max_target_tokens
    other.result()


def test_streamed_tokens_are_those_of_the_result(hand: Hand, solo: Solo) -> None:
    request = translations(solo.engine, 1)[0]
    prefix = solo.translate(request).token_ids[:2]
    requests = [
        TranslationRequest(request.source_ids, stream=True),
        TranslationRequest(request.source_ids, prefix_ids=prefix, stream=True),
        TranslationRequest(
            request.source_ids, stream=True, options=DecodingOptions(max_output_tokens=2)
        ),
    ]
    calls = hand.submit(*requests)
    hand.encode()
    hand.finish(*calls)
    for call in calls:
        hypothesis = call.hypothesis()
        ids, log_probabilities = call.committed()
        assert ids == hypothesis.token_ids
        assert log_probabilities == hypothesis.log_probabilities[: len(ids)]
        assert len(call.events) == len(ids) + 1


def test_no_token_events_come_unasked(hand: Hand, solo: Solo) -> None:
    [call] = hand.submit(*translations(solo.engine, 1))
    hand.encode()
    hand.finish(call)
    assert not [event for event in call.events if isinstance(event, TokensCommitted)]


def test_several_prefixes_of_a_source_are_encoded_once(hand: Hand, solo: Solo) -> None:
    source = translations(solo.engine, 1)[0].source_ids
    prefixes = tuple(Prefix(source[:length]) for length in (0, 2, 0, 1, 2, 1, 0))
    [call] = hand.submit(NextTokenRequest(source, prefixes))
    hand.encode()
    hand.finish(call)
    assert hand.observer.of("encoded") == [(1, len(source))]
    predictions = answer(call.result())
    assert len(predictions) == len(prefixes)
    for prefix, prediction in zip(prefixes, predictions, strict=True):
        assert solo.answer(NextTokenRequest(source, (prefix,))) == (prediction,)


def test_a_cancelled_request_leaves_before_the_next_step(hand: Hand, solo: Solo) -> None:
    calls = hand.submit(*translations(solo.engine, 3))
    hand.encode()
    hand.step(2)
    calls[0].handle.cancel()
    calls[0].handle.cancel()
    hand.step()
    assert isinstance(calls[0].error(), RequestCancelledError)
    assert hand.observer.of("step") == [(3,), (3,), (2,)]
    hand.finish(*calls)
    calls[0].handle.cancel()
    hand.step()


def test_a_waiting_request_can_be_cancelled(hand: Hand, solo: Solo) -> None:
    [call] = hand.submit(*translations(solo.engine, 1))
    call.handle.cancel()
    hand.step()
    assert isinstance(call.error(), RequestCancelledError)
    assert hand.observer.of("encoded") == []


def test_an_expired_request_leaves_before_the_next_step(hand: Hand, solo: Solo) -> None:
    source = translations(solo.engine, 1)[0].source_ids
    late, patient = hand.submit(
        TranslationRequest(source, deadline=101.0), TranslationRequest(source, deadline=999.0)
    )
    hand.encode()
    hand.step(2)
    hand.now = 101.0
    hand.step()
    assert isinstance(late.error(), DeadlineExceededError)
    assert hand.observer.of("step") == [(2,), (2,), (1,)]
    hand.finish(patient)
    assert answer(patient.result()) == solo.answer(TranslationRequest(source))


def test_a_request_that_expired_in_the_queue_never_reaches_the_model(
    hand: Hand, solo: Solo
) -> None:
    source = translations(solo.engine, 1)[0].source_ids
    late, patient = hand.submit(
        TranslationRequest(source, deadline=101.0), TranslationRequest(source)
    )
    hand.now = 102.0
    hand.engine._encoder_loop.run_batch()
    assert hand.observer.of("encoded") == [(1, len(source))]
    hand.finish(late, patient)
    assert isinstance(late.error(), DeadlineExceededError)


@pytest.fixture
def exact(tiny_bundle_fp32: Path) -> Iterator[Hand]:
    """In fp32, where a NaN reaches the probabilities at once."""
    hand = Hand(tiny_bundle_fp32)
    yield hand
    hand.engine.stop(drain=False)


@pytest.fixture
def floats(tiny_bundle_float_caches: Path) -> Iterator[Hand]:
    """In int8, but with keys and values that can hold a NaN."""
    hand = Hand(tiny_bundle_float_caches)
    yield hand
    hand.engine.stop(drain=False)


def poison(hand: Hand, call: Call) -> None:
    """Put NaN into the source of a running request, in each of its rows but the last."""
    running = hand.engine._registry._jobs[call.handle._key].running
    for search in running[:-1] or running:
        hand.engine._loops[0].rows._cache.source[:, :, search.rows[0], :, 0] = np.nan


def test_a_poisoned_row_fails_alone_and_leaves_nothing_behind(exact: Hand) -> None:
    requests = translations(exact.engine, 4)
    clean = exact.submit(*requests)
    exact.encode()
    exact.finish(*clean)
    calls = exact.submit(*requests)
    exact.encode()
    exact.step()
    poison(exact, calls[1])
    exact.step()
    assert isinstance(calls[1].error(), NumericsError)
    assert np.isfinite(exact.engine._loops[0].rows._cache.source).all()
    assert np.isfinite(exact.engine._loops[0].rows._cache.target).all()
    again = exact.submit(requests[1])
    exact.encode()
    others = [calls[0], *again, *calls[2:]]
    exact.finish(*others)
    assert [call.hypothesis() for call in others] == [call.hypothesis() for call in clean]


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("kind", ["source", "target"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_int8_hides_is_seen_before_the_answer(
    floats: Hand, beam_size: int, kind: str, value: float
) -> None:
    hand = floats
    options = DecodingOptions(beam_size=beam_size)
    requests = [replace(each, options=options) for each in translations(hand.engine, 4)[:2]]
    clean = hand.submit(*requests)
    hand.encode()
    hand.finish(*clean)
    calls = hand.submit(*requests)
    hand.encode()
    hand.step(2)
    job = hand.engine._registry._jobs[calls[0].handle._key]
    cache = hand.engine._loops[0].rows._cache
    for row in job.running[0].rows:
        getattr(cache, kind)[0, 1, row, 2, 0, 3] = value
    hand.finish(*calls)
    assert isinstance(calls[0].error(), NumericsError)
    assert calls[1].hypothesis() == clean[1].hypothesis()
    assert np.isfinite(cache.source).all()
    assert np.isfinite(cache.target).all()
    again = hand.submit(requests[0])
    hand.encode()
    hand.finish(*again)
    assert again[0].hypothesis() == clean[0].hypothesis()


def test_a_spoiled_branch_ends_those_that_end_with_it(floats: Hand) -> None:
    hand = floats
    source = translations(hand.engine, 1)[0].source_ids
    branching = NextTokenRequest(source, tuple(Prefix(source[:2]) for _ in range(3)))
    call, other = hand.submit(branching, TranslationRequest(source))
    hand.encode()
    hand.step()
    hand.engine._loops[0].rows._cache.source[0, 0, hand.jobs()[0].running[1].rows[0], 0, 0] = np.nan
    hand.finish(call, other)
    assert isinstance(call.error(), NumericsError)
    assert other.hypothesis()
    statistics = hand.engine.statistics()
    assert statistics.slots_created == statistics.slots_released


def test_poisoned_branches_fail_their_request_once(exact: Hand) -> None:
    source = translations(exact.engine, 1)[0].source_ids
    branching = NextTokenRequest(source, tuple(Prefix(source[:2]) for _ in range(3)))
    call, other = exact.submit(branching, TranslationRequest(source))
    exact.encode()
    exact.step()
    poison(exact, call)
    exact.step()
    assert isinstance(call.error(), NumericsError)
    exact.finish(other)
    [alone] = exact.submit(TranslationRequest(source))
    exact.encode()
    exact.finish(alone)
    assert other.hypothesis() == alone.hypothesis()


def test_a_source_that_is_encoded_to_nan_fails_alone(
    hand: Hand, solo: Solo, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = translations(solo.engine, 3)
    encoder = hand.engine._encoder_loop._encoder
    run = encoder._run

    def spoiled(ids: np.ndarray, lengths: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        encoded = run(ids, lengths, evidence)
        for row, length in enumerate(lengths):
            if tuple(ids[row, :length]) == requests[1].source_ids:
                evidence[row, 0] = np.inf
        return encoded

    monkeypatch.setattr(encoder, "_run", spoiled)
    calls = hand.submit(*requests)
    hand.encode()
    hand.finish(*calls)
    assert isinstance(calls[1].error(), NumericsError)
    for index in (0, 2):
        assert answer(calls[index].result()) == solo.answer(requests[index])


def test_a_callback_that_raises_ends_its_own_request_only(
    hand: Hand, solo: Solo, caplog: pytest.LogCaptureFixture
) -> None:
    request = translations(solo.engine, 1)[0]
    events: list[object] = []

    def fail(event: object) -> None:
        events.append(event)
        raise ValueError("callback")

    hand.engine.submit(TranslationRequest(request.source_ids, stream=True), fail)
    [other] = hand.submit(request)
    hand.encode()
    hand.finish(other)
    assert answer(other.result()) == solo.answer(request)
    assert len(events) == 2
    assert "a callback raised" in caplog.text


def test_the_encoded_source_is_let_go_once_all_branches_run(hand: Hand, solo: Solo) -> None:
    [call] = hand.submit(*translations(solo.engine, 1))
    hand.encode()
    job = hand.engine._registry._jobs[call.handle._key]
    held = []
    for _ in range(2):
        held.append(job.source is not None)
        hand.step()
    assert held == [True, False]
    hand.finish(call)


def test_the_observer_hears_of_everything(hand: Hand, solo: Solo) -> None:
    request = translations(solo.engine, 1)[0]
    [call] = hand.submit(request)
    hand.now = 103.0
    hand.encode()
    hand.now = 104.0
    hand.finish(call)
    result = call.result()
    assert isinstance(result, TranslationResult)
    length = len(result.hypotheses[0].token_ids)
    source_tokens = len(request.source_ids)
    observer = hand.observer
    assert observer.of("queued") == [()]
    assert observer.of("admitted") == [(3.0,)]
    assert observer.of("first_token") == [(4.0,)]
    assert observer.of("finished") == [(FinishReason.STOP, length + 1, source_tokens)]
    assert (result.timing.queue, result.timing.first_token, result.timing.total) == (3.0, 4.0, 4.0)
    assert result.source_token_count == source_tokens
