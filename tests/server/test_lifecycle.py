"""The process: signals, exit codes, what is lost (nothing)."""

import asyncio
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from dragoman.server import Server, StartupError, running
from dragoman.v1 import translation_pb2, translation_pb2_grpc
from tests.number_words import english, german
from tests.server.harness import (
    DEADLINE,
    Process,
    Valve,
    config,
    eventually,
    failure,
    hosted,
    process,
)

NUMBERS = list(range(1000, 1040))
TEXT = "\n".join(english(number) for number in NUMBERS)
GERMAN = {german(number) for number in NUMBERS}


def translate(channel: grpc.Channel) -> str:
    stub = translation_pb2_grpc.TranslationServiceStub(channel)
    request = translation_pb2.TranslateTextRequest(contents=[TEXT])
    return stub.TranslateText(request, timeout=DEADLINE).translations[0].text


def status(channel: grpc.Channel) -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer: int = stub.Check(health_pb2.HealthCheckRequest(), timeout=DEADLINE).status
    return answer


def assert_clean_end(server: Process) -> None:
    code, rest = server.end()
    assert code == 0, rest
    assert "Traceback" not in rest
    assert '"stopped"' in rest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_16_calls_loses_none(tiny_bundle: Path, number: signal.Signals) -> None:
    with (
        process(tiny_bundle, "--settle-seconds", "0") as server,
        grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel,
        ThreadPoolExecutor(16) as pool,
    ):
        expected = translate(channel)
        right = [line in GERMAN for line in expected.split("\n")]
        assert sum(right) >= 0.9 * len(NUMBERS)
        calls = [pool.submit(translate, channel) for _ in range(16)]
        assert eventually(lambda: server.calls_started() == 17)
        server.process.send_signal(number)
        assert [call.result() for call in calls] == [expected] * 16
        assert_clean_end(server)


def test_calls_are_served_while_balancers_settle(tiny_bundle: Path) -> None:
    with (
        process(tiny_bundle, "--settle-seconds", "600") as server,
        grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel,
        ThreadPoolExecutor(16) as pool,
    ):
        expected = translate(channel)
        server.process.send_signal(signal.SIGTERM)
        assert eventually(lambda: status(channel) == health_pb2.HealthCheckResponse.NOT_SERVING)
        calls = [pool.submit(translate, channel) for _ in range(16)]
        assert [call.result() for call in calls] == [expected] * 16
        server.process.send_signal(signal.SIGTERM)
        assert_clean_end(server)


def test_streams_and_watches_do_not_hold_up_the_end(tiny_bundle: Path) -> None:
    with (
        process(tiny_bundle, "--settle-seconds", "0") as server,
        grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        health: Any = health_pb2_grpc.HealthStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=DEADLINE)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        stub = translation_pb2_grpc.TranslationServiceStub(channel)
        request = translation_pb2.StreamTranslateTextRequest(content=TEXT)
        stream = stub.StreamTranslateText(request, timeout=DEADLINE)
        first = next(stream)
        server.process.send_signal(signal.SIGTERM)
        rest = list(stream)
        assert rest[-1].HasField("summary")
        assert first.text_delta
        assert [answer.status for answer in watch] == [health_pb2.HealthCheckResponse.NOT_SERVING]
        assert_clean_end(server)


def test_a_second_signal_does_not_wait(tiny_bundle: Path) -> None:
    with process(tiny_bundle, "--settle-seconds", "600") as server:
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("settling")
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert_clean_end(server)
        assert time.monotonic() - begin < 20


def test_after_the_grace_calls_end_with_an_error(tiny_bundle: Path) -> None:
    valve = Valve()
    with hosted(config(tiny_bundle, drain_grace_seconds=0.3), valve.load) as server:
        valve.close()
        call = server.start_line(english(7777))
        assert eventually(lambda: valve.steps == 1)
        begin = time.monotonic()
        stopped = asyncio.run_coroutine_threadsafe(server.server.shutdown(), server.loop)
        ended = failure(call.result)
        assert (ended.code, ended.reason) == ("UNAVAILABLE", "DRAINING")
        assert ended.retry_seconds
        valve.open()
        stopped.result(DEADLINE)
        assert time.monotonic() - begin < 10
        (line,) = server.log_lines("calls_ended")
        assert line["count"] == 1


async def test_a_server_inside_a_program(tiny_bundle: Path) -> None:
    async with running(config(tiny_bundle, log_level="error")) as server:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            stub = translation_pb2_grpc.TranslationServiceStub(channel)
            request = translation_pb2.TranslateTextRequest(contents=["four hundred"])
            response = await stub.TranslateText(request, timeout=DEADLINE)
        assert response.translations[0].text == "vierhundert"


async def test_two_servers_cannot_share_a_port(tiny_bundle: Path) -> None:
    async with running(config(tiny_bundle, log_level="error")) as first:
        second = Server(config(tiny_bundle, port=first.port, log_level="error"))
        with pytest.raises(StartupError, match=str(first.port)):
            await second.__aenter__()


async def test_starting_and_stopping_leaves_nothing(tiny_bundle: Path) -> None:
    for _ in range(3):
        async with running(config(tiny_bundle, log_level="error")):
            pass
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.sleep(0.1)
    assert [task for task in rest if not task.done()] == []


def test_the_module_is_a_program(tiny_bundle: Path) -> None:
    with process(tiny_bundle, "--settle-seconds", "0") as server:
        assert server.port
        assert server.metrics_port
        server.process.send_signal(signal.SIGTERM)
        assert_clean_end(server)
