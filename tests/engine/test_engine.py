"""The engine with its threads: it starts, serves many callers, drains, stops and breaks well."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.engine import (
    DeadlineExceededError,
    DecodingOptions,
    Engine,
    EngineError,
    EngineFailedError,
    EngineObserver,
    EngineOptions,
    EngineStoppedError,
    Event,
    InvalidRequestError,
    QueueFullError,
    RequestCancelledError,
    SamplingOptions,
    TranslationRequest,
    TranslationResult,
)
from tests.engine.calls import PATIENCE, Call, Load, Solo, answer
from tests.engine.traffic import mixed_requests, translations


class Refusals(EngineObserver):
    """Notes refusals and failures."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.failures: list[EngineError] = []

    def request_rejected(self, reason: str) -> None:
        self.reasons.append(reason)

    def engine_failed(self, error: EngineError) -> None:
        self.failures.append(error)


def streamed(engine: Engine) -> TranslationRequest:
    return TranslationRequest(translations(engine, 1)[0].source_ids, stream=True)


class Gate:
    """Holds the engine's thread in a callback until it is opened."""

    def __init__(self, engine: Engine) -> None:
        self._entered = threading.Event()
        self._opened = threading.Event()
        engine.submit(streamed(engine), self._hold)
        assert self._entered.wait(PATIENCE)

    def _hold(self, event: Event) -> None:
        self._entered.set()
        assert self._opened.wait(PATIENCE)

    def open(self) -> None:
        self._opened.set()


def test_many_threads_submit_at_once(load: Load, solo: Solo) -> None:
    engine = load()
    engine.start()
    requests = mixed_requests(solo.engine, 40, seed=5)
    expected = [solo.answer(request) for request in requests]
    results: dict[int, object] = {}

    def work(offset: int) -> None:
        for index in range(offset, len(requests), 4):
            results[index] = answer(Call(engine, requests[index]).result())

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert [results[index] for index in range(len(requests))] == expected


def test_draining_answers_what_was_accepted(load: Load, solo: Solo) -> None:
    engine = load()
    engine.start()
    requests = translations(engine, 30)
    calls = [Call(engine, request) for request in requests]
    engine.stop(drain=True)
    assert all(call.over for call in calls)
    assert [answer(call.result()) for call in calls] == [solo.answer(r) for r in requests]
    statistics = engine.statistics()
    assert statistics.pending == statistics.running_rows == 0
    assert statistics.slots_created == statistics.slots_released == 30


@pytest.mark.parametrize("how", [{"drain": False}, {"drain": True, "timeout": 0.0}])
def test_stopping_at_once_ends_what_runs_and_waits(load: Load, how: dict[str, Any]) -> None:
    engine = load(max_rows=3, decoder_workers=1)
    engine.start()
    gate = Gate(engine)
    calls = [Call(engine, request) for request in translations(engine, 10)]
    stopping = threading.Thread(target=engine.stop, kwargs=how)
    stopping.start()
    while not engine._registry.closed:
        time.sleep(0.001)
    gate.open()
    stopping.join(PATIENCE)
    assert all(call.over for call in calls)
    assert {type(call.error()) for call in calls} == {EngineStoppedError}
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released
    assert statistics.pending == statistics.queued == 0


def test_stop_and_start_are_idempotent(load: Load) -> None:
    engine = load()
    threads = threading.active_count()
    engine.start()
    engine.start()
    Call(engine, translations(engine, 1)[0]).result()
    engine.stop()
    engine.stop(drain=False)
    assert threading.active_count() == threads
    with pytest.raises(EngineStoppedError):
        Call(engine, translations(engine, 1)[0])


def test_an_engine_that_never_started_ends_its_requests(load: Load) -> None:
    engine = load()
    call = Call(engine, translations(engine, 1)[0])
    engine.stop()
    assert isinstance(call.error(), EngineStoppedError)
    with pytest.raises(EngineStoppedError):
        engine.start()


def test_refusals_are_told_apart(load: Load) -> None:
    observer = Refusals()
    engine = load(observer, max_queued=1)
    request = translations(engine, 1)[0]
    with pytest.raises(InvalidRequestError):
        Call(engine, TranslationRequest(request.source_ids[:-1]))
    call = Call(engine, request)
    with pytest.raises(QueueFullError):
        Call(engine, request)
    engine.stop()
    with pytest.raises(EngineStoppedError):
        Call(engine, request)
    assert observer.reasons == ["invalid", "queue_full", "stopped"]
    call.error()


def broken(*_: object, **__: object) -> object:
    raise RuntimeError("the graph is gone")


def break_decoder(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for loop in engine._loops:
        monkeypatch.setattr(loop._decoder, "run", broken)


def break_encoder(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine._encoder_loop._encoder, "run", broken)


@pytest.mark.parametrize("spoil", [break_decoder, break_encoder])
def test_a_fault_ends_every_pending_request(
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Engine, pytest.MonkeyPatch], None],
) -> None:
    observer = Refusals()
    engine = load(observer, max_rows=2)
    calls = [Call(engine, request) for request in mixed_requests(engine, 10, seed=3)]
    spoil(engine, monkeypatch)
    engine.start()
    for call in calls:
        error = call.error()
        assert isinstance(error, EngineFailedError)
        assert isinstance(error.__cause__, RuntimeError)
    assert engine.failure is not None
    assert observer.failures == [engine.failure]
    with pytest.raises(EngineFailedError, match="the graph is gone"):
        Call(engine, translations(engine, 1)[0])
    assert observer.reasons == ["failed"]
    engine.stop()
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released
    assert statistics.pending == statistics.queued == 0


@pytest.mark.parametrize("spoil", [break_decoder, break_encoder])
def test_a_fault_in_the_middle_ends_what_runs(
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Engine, pytest.MonkeyPatch], None],
) -> None:
    engine = load(decoder_workers=1)
    engine.start()
    gate = Gate(engine)
    spoil(engine, monkeypatch)
    calls = [Call(engine, request) for request in translations(engine, 3)]
    gate.open()
    assert all(isinstance(call.error(), EngineFailedError) for call in calls)
    engine.stop()
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released > 0


def test_a_fault_of_one_worker_ends_what_runs_in_the_others(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load()
    engine.start()
    gate = Gate(engine)
    monkeypatch.setattr(engine._loops[1]._decoder, "run", broken)
    assert isinstance(Call(engine, translations(engine, 1)[0]).error(), EngineFailedError)
    gate.open()
    engine.stop()
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released > 0
    assert statistics.pending == statistics.running_rows == 0


def test_what_one_worker_is_busy_with_holds_nobody_up_in_another(load: Load, solo: Solo) -> None:
    engine = load()
    engine.start()
    gate = Gate(engine)
    request = translations(engine, 1)[0]
    assert answer(Call(engine, request).result()) == solo.answer(request)
    gate.open()


def test_requests_of_many_branches_and_rows_are_divided_among_workers(load: Load) -> None:
    engine = load(max_rows=5)
    engine.start()
    source = translations(engine, 1)[0].source_ids
    sampling = SamplingOptions(temperature=2.0, sample_count=8, seed=3)
    requests = [
        TranslationRequest(source, options=DecodingOptions(sampling=sampling)),
        TranslationRequest(source, options=DecodingOptions(beam_size=4)),
        *translations(engine, 6, seed=8),
    ]
    alone = [answer(Call(engine, request).result()) for request in requests]
    calls = [Call(engine, request) for request in requests]
    assert [answer(call.result()) for call in calls] == alone
    engine.stop()
    assert all(loop.steps for loop in engine._loops)
    assert all(loop.rows.created == loop.rows.released > 0 for loop in engine._loops)


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 2), (64, 2)])
def test_workers_follow_the_cores(
    load: Load, monkeypatch: pytest.MonkeyPatch, cores: int, workers: int
) -> None:
    monkeypatch.setattr("dragoman.engine.parts.available_cores", lambda: cores)
    options = EngineOptions(decoder_threads=1, encoder_threads=1)
    engine = Engine.load(load().bundle.directory, options)
    assert len(engine._loops) == workers
    engine.stop()


def test_who_has_the_answer_finds_its_steps_counted(load: Load, solo: Solo) -> None:
    engine = load()
    engine.start()
    request = translations(engine, 1)[0]
    seen: list[tuple[int, int]] = []

    def note(event: Event) -> None:
        statistics = engine.statistics()
        seen.append((statistics.steps, statistics.running_rows))

    engine.submit(request, note)
    engine.stop(drain=True)
    assert seen == [(len(solo.translate(request).log_probabilities), 0)]


def test_a_callback_may_cancel_and_submit(load: Load, solo: Solo) -> None:
    engine = load()
    request = translations(engine, 1)[0]
    follow_ups: list[Call] = []

    class Busy(Call):
        def _receive(self, event: Event) -> None:
            if not self.events:
                follow_ups.append(Call(engine, request))
                self.handle.cancel()
            super()._receive(event)

    busy = Busy(engine, streamed(engine))
    engine.start()
    assert isinstance(busy.error(), RequestCancelledError)
    assert answer(follow_ups[0].result()) == solo.answer(request)


def test_a_deadline_passes_while_the_engine_is_idle(load: Load) -> None:
    engine = load()
    request = translations(engine, 1)[0]
    calls = [
        Call(engine, TranslationRequest(request.source_ids, deadline=time.monotonic() - 1))
        for _ in range(3)
    ]
    engine.start()
    for call in calls:
        assert isinstance(call.error(), DeadlineExceededError)
    assert engine.statistics().steps == 0


def test_the_queue_opens_again_after_a_burst(load: Load, solo: Solo) -> None:
    engine = load(max_rows=2, max_queued=5)
    engine.start()
    requests = translations(engine, 30)
    calls: list[Call] = []
    while len(calls) < len(requests):
        try:
            calls.append(Call(engine, requests[len(calls)]))
        except QueueFullError:
            time.sleep(0.001)
    assert [answer(call.result()) for call in calls] == [solo.answer(r) for r in requests]


def test_times_add_up(load: Load) -> None:
    engine = load()
    engine.start()
    began = time.monotonic()
    result = Call(engine, translations(engine, 1)[0]).result()
    elapsed = time.monotonic() - began
    assert isinstance(result, TranslationResult)
    timing = result.timing
    assert 0 <= timing.queue <= timing.first_token <= timing.total <= elapsed


def test_an_idle_engine_is_not_busy(load: Load) -> None:
    engine = load()
    assert engine.statistics().busy_seconds == 0
    engine.start()
    Call(engine, translations(engine, 1)[0]).result()
    engine.stop()
    assert engine.statistics().busy_seconds == 0
