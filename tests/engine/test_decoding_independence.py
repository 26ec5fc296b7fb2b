"""Every decoding feature in one running batch: the same tokens, the same bits as alone."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from dragoman.engine import Engine, EngineOptions, TranslationRequest, TranslationResult
from tests.engine.calls import Call, Request, answer
from tests.engine.decoding_traffic import decoding_requests

REQUESTS = 45


@pytest.fixture(scope="module", params=["int8", "fp32"])
def bundle(request: pytest.FixtureRequest, tiny_bundle: Path, tiny_bundle_fp32: Path) -> Path:
    return {"int8": tiny_bundle, "fp32": tiny_bundle_fp32}[request.param]


def started(bundle: Path, threads: int, max_rows: int = 12) -> Engine:
    options = EngineOptions(max_rows=max_rows, decoder_threads=threads, encoder_threads=threads)
    engine = Engine.load(bundle, options)
    engine.start()
    return engine


def stopped(engine: Engine) -> None:
    """Stop, and hold that every row came back."""
    engine.stop()
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released > 0
    assert statistics.running_rows == statistics.queued == statistics.pending == 0
    assert engine._registry._scheduler.free_rows == engine.limits.max_rows


@pytest.fixture(scope="module")
def alone(bundle: Path) -> tuple[list[Request], list[object]]:
    """Requests of all kinds, and what each gives where nothing else runs."""
    engine = started(bundle, threads=1, max_rows=5)
    requests = decoding_requests(engine, REQUESTS, seed=21)
    results: list[object] = [answer(Call(engine, request).result()) for request in requests]
    stopped(engine)
    return requests, results


@pytest.mark.parametrize("threads", [1, 2])
def test_requests_that_join_at_random_times_give_what_each_gives_alone(
    bundle: Path, alone: tuple[list[Request], list[object]], threads: int
) -> None:
    requests, expected = alone
    choice = random.Random(threads)
    engine = started(bundle, threads)
    calls: dict[int, Call] = {}
    for index in choice.sample(range(REQUESTS), REQUESTS):
        calls[index] = Call(engine, requests[index])
        time.sleep(choice.choice([0.0, 0.0, 0.001, 0.004]))
    for index, request in enumerate(requests):
        assert answer(calls[index].result()) == expected[index], request
    stopped(engine)


def test_survivors_of_cancelled_neighbours_are_untouched(
    bundle: Path, alone: tuple[list[Request], list[object]]
) -> None:
    requests, expected = alone
    engine = started(bundle, threads=1, max_rows=7)
    choice = random.Random(6)
    survivors: list[Call] = []
    for request in requests:
        victim = Call(engine, choice.choice(requests))
        survivors.append(Call(engine, request))
        time.sleep(choice.choice([0.0, 0.002]))
        victim.handle.cancel()
    results = [answer(call.result()) for call in survivors]
    stopped(engine)
    assert results == expected


def test_streamed_tokens_are_those_of_the_first_hypothesis(
    bundle: Path, alone: tuple[list[Request], list[object]]
) -> None:
    requests, _ = alone
    engine = started(bundle, threads=1)
    streams = [r for r in requests if isinstance(r, TranslationRequest) and r.stream]
    calls = [Call(engine, request) for request in streams]
    for call in calls:
        result = call.result()
        assert isinstance(result, TranslationResult)
        best = result.hypotheses[0]
        ids, log_probabilities = call.committed()
        assert ids == best.token_ids
        assert log_probabilities == best.log_probabilities[: len(ids)]
    assert len(calls) > 5
    stopped(engine)
