"""What a request gets never depends on what else runs: the same tokens, the same bits."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from dragoman.engine import (
    Engine,
    EngineOptions,
    Failed,
    Finished,
    RequestCancelledError,
    TranslationRequest,
)
from tests.engine.calls import Call, Request, answer
from tests.engine.traffic import mixed_requests, translations

REQUESTS = 50
STREAMS = 200


@pytest.fixture(scope="module", params=["int8", "fp32"])
def bundle(request: pytest.FixtureRequest, tiny_bundle: Path, tiny_bundle_fp32: Path) -> Path:
    return {"int8": tiny_bundle, "fp32": tiny_bundle_fp32}[request.param]


def started(bundle: Path, threads: int, max_rows: int = 12, workers: int = 1) -> Engine:
    options = EngineOptions(
        max_rows=max_rows,
        decoder_workers=workers,
        decoder_threads=threads,
        encoder_threads=threads,
        max_batch_tokens=200,
    )
    engine = Engine.load(bundle, options)
    engine.start()
    return engine


@pytest.fixture(scope="module")
def alone(bundle: Path) -> tuple[list[Request], list[object]]:
    """Requests of mixed length and kind, and what each gives in an engine of its own."""
    engine = started(bundle, threads=1, max_rows=1)
    requests = mixed_requests(engine, REQUESTS, seed=11)
    results: list[object] = [answer(Call(engine, request).result()) for request in requests]
    engine.stop()
    return requests, results


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (1, 2), (2, 1), (3, 2)])
@pytest.mark.parametrize("seed", [1, 2])
def test_requests_that_join_at_random_times_give_what_each_gives_alone(
    bundle: Path, alone: tuple[list[Request], list[object]], workers: int, threads: int, seed: int
) -> None:
    requests, expected = alone
    choice = random.Random(seed)
    order = choice.sample(range(REQUESTS), REQUESTS)
    engine = started(bundle, threads, workers=workers)
    calls: dict[int, Call] = {}
    for index in order:
        calls[index] = Call(engine, requests[index])
        time.sleep(choice.choice([0.0, 0.0, 0.001, 0.004]))
    results = [answer(calls[index].result()) for index in range(REQUESTS)]
    engine.stop()
    assert results == expected


def test_a_short_text_gives_the_same_alone_and_beside_a_long_one(bundle: Path) -> None:
    engine = started(bundle, threads=1)
    encode = engine.tokenizer.encode_source
    short = TranslationRequest(encode("one"))
    long = TranslationRequest(encode("seven thousand seven hundred seventy-seven"))
    single = Call(engine, short).hypothesis()
    assert single.token_ids
    for batch in ([short, long], [long, short], [short] * 12, [long] * 11 + [short]):
        calls = [Call(engine, request) for request in batch]
        results = [call.hypothesis() for call in calls]
        assert results[batch.index(short)] == single
    engine.stop()


def test_equal_requests_give_equal_results(bundle: Path) -> None:
    engine = started(bundle, threads=2)
    [request] = translations(engine, 1, seed=4)
    calls = [Call(engine, request) for _ in range(30)]
    assert len({call.hypothesis() for call in calls}) == 1
    engine.stop()


def test_cancelling_many_streams_at_random_moments_loses_no_row(bundle: Path) -> None:
    engine = started(bundle, threads=1, workers=2)
    choice = random.Random(9)
    calls: list[Call] = []
    for request in translations(engine, STREAMS, seed=3):
        calls.append(Call(engine, TranslationRequest(request.source_ids, stream=True)))
        time.sleep(choice.choice([0.0, 0.0, 0.001]))
        calls[choice.randrange(len(calls))].handle.cancel()
    outcomes = [call.wait() for call in calls]
    engine.stop()
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert failures
    assert all(isinstance(failure.error, RequestCancelledError) for failure in failures)
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released > 0
    assert statistics.running_rows == statistics.queued == statistics.pending == 0


def test_survivors_of_cancelled_neighbours_are_untouched(
    bundle: Path, alone: tuple[list[Request], list[object]]
) -> None:
    requests, expected = alone
    engine = started(bundle, threads=1, max_rows=5, workers=2)
    choice = random.Random(6)
    survivors: list[Call] = []
    for request in requests:
        victim = Call(engine, choice.choice(requests))
        survivors.append(Call(engine, request))
        time.sleep(choice.choice([0.0, 0.002]))
        victim.handle.cancel()
    results = [answer(call.result()) for call in survivors]
    engine.stop()
    assert results == expected


def test_streamed_tokens_equal_the_unary_result_under_load(
    bundle: Path, alone: tuple[list[Request], list[object]]
) -> None:
    requests, expected = alone
    engine = started(bundle, threads=1)
    calls = {
        index: Call(
            engine,
            TranslationRequest(
                request.source_ids,
                request.prefix_ids,
                request.starts_new_word,
                request.options,
                stream=True,
            ),
        )
        for index, request in enumerate(requests)
        if isinstance(request, TranslationRequest)
    }
    for index, call in calls.items():
        assert isinstance(call.wait(), Finished)
        hypothesis = call.hypothesis()
        assert (hypothesis,) == expected[index]
        assert call.committed()[0] == hypothesis.token_ids
    engine.stop()
