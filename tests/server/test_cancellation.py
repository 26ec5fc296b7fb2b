"""Whoever leaves early frees what it held within a step."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from dragoman.v1 import translation_pb2
from tests.number_words import english
from tests.server.harness import DEADLINE, Hosted, Valve, config, eventually, failure, hosted

LONG_TEXT = "\n".join(english(number) for number in range(1000, 1060))


@pytest.fixture
def valve() -> Valve:
    return Valve()


@pytest.fixture
def held(tiny_bundle: Path, valve: Valve) -> Iterator[Hosted]:
    """A server whose engine the test can hold up."""
    with hosted(config(tiny_bundle), valve.load) as server:
        yield server
        valve.open()
        server.assert_at_rest()


def leave_at_random(server: Hosted, seed: int) -> None:
    """Start a stream and cancel it before, while or after it speaks."""
    chance = random.Random(seed)
    text = english(seed) if seed % 3 else LONG_TEXT
    request = translation_pb2.StreamTranslateTextRequest(content=text)
    call = server.translation.StreamTranslateText(request, timeout=DEADLINE)
    if seed % 2:
        time.sleep(chance.uniform(0, 0.02))
    else:
        for _ in range(chance.randrange(4)):
            next(call, None)
    call.cancel()


def test_200_streams_cancelled_at_random_moments(server: Hosted) -> None:
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda seed: leave_at_random(server, seed), range(200)))
    server.assert_at_rest()
    statistics = server.engine.statistics()
    assert statistics.slots_created == statistics.slots_released > 0
    assert statistics.running_rows == 0
    assert server.text("four hundred") == "vierhundert"


def test_200_unary_calls_cancelled_at_random_moments(server: Hosted) -> None:
    def run(seed: int) -> None:
        call = server.start_line(LONG_TEXT if seed % 2 else english(seed))
        time.sleep(random.Random(seed).uniform(0, 0.02))
        call.cancel()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(run, range(200)))
    server.assert_at_rest()
    assert server.text("four hundred") == "vierhundert"


def test_a_cancelled_row_is_free_after_the_step_that_runs(held: Hosted, valve: Valve) -> None:
    valve.close()
    call = held.start_line(english(7777))
    assert eventually(lambda: valve.steps == 1 and held.engine.statistics().running_rows)
    call.cancel()
    assert eventually(lambda: held.metric("grpc_server_handled_total", grpc_code="Canceled") == 1)
    valve.let_step()
    assert eventually(lambda: held.engine.statistics().running_rows == 0)
    assert valve.steps == 1
    assert held.metric("dragoman_failed_total", reason="cancelled") == 1


def test_a_deadline_ends_the_call_and_the_row(held: Hosted, valve: Valve) -> None:
    valve.close()
    call = held.start_line(english(7777), timeout=0.2)
    with pytest.raises(grpc.RpcError) as caught:
        call.result()
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert eventually(
        lambda: held.metric("grpc_server_handled_total", grpc_code="DeadlineExceeded") == 1
    )
    steps = valve.steps
    valve.open()
    held.assert_at_rest()
    assert valve.steps - steps <= 1


def test_what_expires_in_the_queue_never_reaches_the_model(tiny_bundle: Path, valve: Valve) -> None:
    with hosted(config(tiny_bundle, max_rows=1), valve.load) as server:
        valve.close()
        first = server.start_line(english(7777))
        assert eventually(lambda: valve.steps == 1)
        waiting = server.start_line("one", timeout=0.2)
        assert waiting.exception().code() is grpc.StatusCode.DEADLINE_EXCEEDED
        valve.open()
        first.result()
        server.assert_at_rest()
        assert server.engine.statistics().slots_created == 2  # one of them to warm up


def test_a_call_without_a_deadline_gets_ours(tiny_bundle: Path, valve: Valve) -> None:
    with hosted(config(tiny_bundle, default_deadline_seconds=0.3), valve.load) as server:
        valve.close()
        call = server.start_line(english(7777), timeout=None)
        assert eventually(lambda: valve.steps == 1)
        time.sleep(0.3)
        valve.open()
        late = failure(call.result)
        assert (late.code, late.reason) == ("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED")
        server.assert_at_rest()
        assert server.metric("dragoman_failed_total", reason="deadline") == 1
