"""An engine that breaks or hangs: typed errors, NOT_SERVING, an exit code."""

import sys
import threading
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from dragoman.engine.sessions import DecoderSession
from dragoman.server.watchdog import PERIOD_SECONDS
from dragoman.v1 import translation_pb2, translation_pb2_grpc
from tests.server.harness import (
    DEADLINE,
    Hosted,
    Valve,
    config,
    eventually,
    failure,
    hosted,
    process,
)


def assert_failed(server: Hosted, calls: list[object]) -> None:
    """Every pending and every new call says that the engine failed; health agrees."""
    assert PERIOD_SECONDS <= 0.25  # so it does within a second
    assert eventually(lambda: server.status() == "NOT_SERVING")
    for call in calls:
        failed = failure(call.result)  # type: ignore[attr-defined]
        assert (failed.code, failed.reason) == ("UNAVAILABLE", "ENGINE_FAILED")
        assert failed.retry_seconds
    assert failure(lambda: server.translate("one")).reason == "ENGINE_FAILED"
    assert server.status("dragoman.v1.TranslationService") == "NOT_SERVING"
    assert server.server.exit_code == 1


def test_a_broken_engine(tiny_bundle: Path) -> None:
    valve = Valve()
    with hosted(config(tiny_bundle, max_rows=2), valve.load) as server:
        watch = server.health.Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        valve.close()
        calls = [server.start_line("four hundred") for _ in range(8)]
        assert eventually(lambda: server.metric("dragoman_requests_total") == 8)
        valve.error = RuntimeError("the cable is loose")
        valve.open()
        assert_failed(server, calls)
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        (line,) = server.log_lines("engine_failed")
        assert "the cable is loose" in line["exception"]
        assert not any("cable" in str(entry) for entry in server.log_lines("call"))


def test_a_hanging_engine(tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, hanging, released = DecoderSession.run, threading.Event(), threading.Event()

    def hang(*args: object, **options: object) -> object:
        if hanging.is_set():
            released.wait(30)
        return run(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(DecoderSession, "run", hang)
    with hosted(config(tiny_bundle, stall_seconds=0.5)) as server:
        hanging.set()
        call = server.start_line("one")
        assert_failed(server, [call])
        released.set()


def test_a_bug_of_ours_shows_an_id_and_nothing_else(
    tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("secret of the house")

    monkeypatch.setattr("dragoman.server.answers.translations", broken)
    with hosted(config(tiny_bundle)) as server:
        failed = failure(lambda: server.translate("one"))
        assert (failed.code, failed.reason) == ("INTERNAL", "INTERNAL")
        assert "secret" not in failed.message
        (line,) = server.log_lines("internal_error")
        assert line["error_id"] == failed.metadata["error_id"]
        assert "secret of the house" in line["exception"]
        assert server.status() == "SERVING"
        server.assert_at_rest()


FAULTY_PROGRAM = """
import sys, time
from dragoman.engine.sessions import DecoderSession
from dragoman.server.watchdog import PERIOD_SECONDS
from dragoman.server.cli import main

run, warm, fault = DecoderSession.run, [], sys.argv.pop(1)

def faulty(*args, **options):
    warm.append(None)
    if len(warm) > 60 and fault == "break":
        raise RuntimeError("the cable is loose")
    if len(warm) > 60:
        time.sleep(600)
    return run(*args, **options)

DecoderSession.run = faulty
main()
"""


@pytest.mark.parametrize(
    ("fault", "cause"),
    [("break", "the cable is loose"), ("hang", "the engine has made no step for 0.5 s")],
)
def test_the_process_ends_with_1(tiny_bundle: Path, fault: str, cause: str) -> None:
    flags = ("--stall-seconds", "0.5", "--no-metrics")
    command = [sys.executable, "-c", FAULTY_PROGRAM, fault]
    with process(tiny_bundle, *flags, command=command) as server:
        with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            stub = translation_pb2_grpc.TranslationServiceStub(channel)
            text = "nine thousand nine hundred\n" * 500
            request = translation_pb2.TranslateTextRequest(contents=[text])
            failed = failure(lambda: stub.TranslateText(request, timeout=DEADLINE))
            assert failed.reason == "ENGINE_FAILED"
        code, rest = server.end()
        assert code == 1
        assert cause in rest
