"""Real servers for tests: on a thread of this process, or in a process of their own."""

import asyncio
import io
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from dragoman.engine import Engine, EngineObserver, EngineOptions, EngineStatistics
from dragoman.server import Config
from dragoman.server.loading import LoadEngine
from dragoman.server.logs import build_logger
from dragoman.server.server import Server
from dragoman.v1 import (
    model_pb2,
    model_pb2_grpc,
    translation_pb2,
    translation_pb2_grpc,
)

T = TypeVar("T")
M = TypeVar("M", bound=Message)
DEADLINE = 30.0
MODULE = (sys.executable, "-m", "dragoman.server")


def config(bundle: Path, **settings: Any) -> Config:
    """Settings of a server on free ports that stops without waiting."""
    defaults: dict[str, Any] = {
        "bundle": bundle,
        "port": 0,
        "metrics_port": 0,
        "settle_seconds": 0,
        "decoder_threads": 1,
        "encoder_threads": 1,
    }
    return Config(**(defaults | settings))


class Hosted:
    """A server that runs on an event loop in a thread, with a channel to it."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop, logs: io.StringIO) -> None:
        self.server = server
        self.loop = loop
        self.logs = logs
        self.channel = grpc.insecure_channel(f"127.0.0.1:{server.port}")
        self.translation = translation_pb2_grpc.TranslationServiceStub(self.channel)
        self.models = model_pb2_grpc.ModelServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(DEADLINE)

    @property
    def engine(self) -> Engine:
        """The engine behind the server."""
        backend = self.server._backend
        assert backend is not None
        return backend.engine

    def translate(self, *contents: str, **fields: Any) -> translation_pb2.TranslateTextResponse:
        """Call TranslateText."""
        request = translation_pb2.TranslateTextRequest(contents=contents, **fields)
        return self.translation.TranslateText(request, timeout=DEADLINE)

    def text(self, content: str) -> str:
        """Translate one text."""
        return self.translate(content).translations[0].text

    def stream(
        self, content: str, **fields: Any
    ) -> list[translation_pb2.StreamTranslateTextResponse]:
        """Call StreamTranslateText to its end."""
        request = translation_pb2.StreamTranslateTextRequest(content=content, **fields)
        return list(self.translation.StreamTranslateText(request, timeout=DEADLINE))

    def predict(self, **fields: Any) -> translation_pb2.PredictNextTokenResponse:
        """Call PredictNextToken."""
        request = translation_pb2.PredictNextTokenRequest(**fields)
        return self.translation.PredictNextToken(request, timeout=DEADLINE)

    def status(self, service: str = "") -> str:
        """What the health service says of a service."""
        request = health_pb2.HealthCheckRequest(service=service)
        status: int = self.health.Check(request, timeout=DEADLINE).status
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(status))

    def start_line(self, text: str = "one", **options: Any) -> Any:
        """Begin a TranslateText call; give its future."""
        request = translation_pb2.TranslateTextRequest(contents=[text])
        call: Any = self.translation.TranslateText
        return call.future(request, **({"timeout": DEADLINE} | options))

    def model(self) -> model_pb2.Model:
        """Call GetModel."""
        return self.models.GetModel(model_pb2.GetModelRequest(), timeout=DEADLINE).model

    def log_lines(self, event: str) -> list[dict[str, Any]]:
        """The log lines of one event."""
        lines = [json.loads(line) for line in self.logs.getvalue().splitlines()]
        return [line for line in lines if line["event"] == event]

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples of a metric that have these labels."""
        return sum(
            sample.value
            for family in self.server.registry.collect()
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def assert_at_rest(self) -> None:
        """Every call ended in one status; every slot is free; no line is counted as in work."""
        backend = self.server._backend
        assert backend is not None

        def busy() -> list[float]:
            now: EngineStatistics = backend.engine.statistics()
            started = self.metric("grpc_server_started_total")
            handled = self.metric("grpc_server_handled_total")
            return [
                started - handled,
                now.slots_created - now.slots_released,
                now.pending,
                backend.runner.admission.taken,
                len(backend.runner.live),
            ]

        assert eventually(lambda: not any(busy())), busy()

    def steps_at_rest(self) -> int:
        """The steps computed so far, once what earlier tests called off has left the batch."""
        self.assert_at_rest()
        return self.engine.statistics().steps


@contextmanager
def hosted(settings: Config, load_engine: LoadEngine = Engine.load) -> Iterator[Hosted]:
    """Run a server in a thread while the block runs; it must stop without leaving anything."""
    before = {thread.ident for thread in threading.enumerate()}
    logs = io.StringIO()
    server = Server(settings, build_logger(settings, logs), load_engine)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="test-server", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(DEADLINE)
        host = Hosted(server, loop, logs)
        try:
            yield host
        finally:
            host.channel.close()
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(DEADLINE)
            assert asyncio.run_coroutine_threadsafe(leftovers(), loop).result(DEADLINE) == []
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(DEADLINE)
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    assert eventually(lambda: not new_threads(before)), new_threads(before)


async def leftovers() -> list[str]:
    """Names of the tasks, besides this one, that are still alive a moment later."""
    current = asyncio.current_task()
    for _ in range(100):
        rest = [task for task in asyncio.all_tasks() if task is not current]
        if not rest:
            break
        await asyncio.sleep(0.02)
    return [str(task) for task in rest]


def new_threads(before: set[int | None]) -> list[str]:
    """Names of our threads that were not there before (gRPC's own stay for the process)."""
    return [
        thread.name
        for thread in threading.enumerate()
        if thread.ident not in before and thread.name.startswith(("dragoman", "test-server"))
    ]


def eventually(condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Whether a condition holds within some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


@dataclass(frozen=True)
class Failure:
    """What a failed call said.

    Attributes:
        code: name of the status code.
        message: the status message.
        trailers: the trailing metadata.
        reason: of the one ErrorInfo.
        metadata: of the ErrorInfo.
        violations: (field, description) of the BadRequest.
        retry_seconds: of the RetryInfo.
    """

    code: str
    message: str
    trailers: dict[str, str | bytes]
    reason: str
    metadata: dict[str, str]
    violations: list[tuple[str, str]]
    retry_seconds: float | None

    @classmethod
    def of(cls, error: Any) -> "Failure":
        """Read an error of either stack of gRPC."""
        trailers = dict(error.trailing_metadata() or ())
        assert "grpc-status-details-bin" in trailers, f"{error.code()} {error.details()}"
        status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
        assert (status.code, status.message) == (error.code().value[0], error.details())
        (info,) = _unpacked(status, error_details_pb2.ErrorInfo)
        assert info.domain == "dragoman.v1"
        requests = _unpacked(status, error_details_pb2.BadRequest)
        retries = _unpacked(status, error_details_pb2.RetryInfo)
        return cls(
            code=error.code().name,
            message=error.details(),
            trailers=trailers,
            reason=info.reason,
            metadata=dict(info.metadata),
            violations=[(v.field, v.description) for r in requests for v in r.field_violations],
            retry_seconds=sum(r.retry_delay.ToMilliseconds() for r in retries) / 1000
            if retries
            else None,
        )


def _unpacked(status: status_pb2.Status, kind: type[M]) -> list[M]:
    found = []
    for detail in status.details:
        message = kind()
        if detail.Unpack(message):
            found.append(message)
    return found


def outcome(call: Callable[[], T]) -> T | Failure:
    """What a call gave, or how it failed."""
    try:
        return call()
    except grpc.RpcError as error:
        return Failure.of(error)


def failure(call: Callable[[], object]) -> Failure:
    """The failure of a call that must fail."""
    failed = outcome(call)
    assert isinstance(failed, Failure), failed
    return failed


class Valve:
    """Holds an engine up between two steps, or breaks it there."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._single = threading.Semaphore(0)
        self._open.set()
        self._engine: Engine | None = None
        self._ended = 0
        self.error: Exception | None = None
        self.steps = 0

    def close(self) -> None:
        """Hold the resting engine up after its next step; count its steps from now on."""
        assert eventually(self._rests)
        time.sleep(0.02)  # a step is counted a moment after its last event
        assert eventually(self._rests)
        self._open.clear()
        self.steps = 0

    def _rests(self) -> bool:
        assert self._engine is not None
        now = self._engine.statistics()
        return now.pending == now.busy_seconds == 0 and now.steps == self._ended

    def open(self) -> None:
        """Let it run."""
        self._open.set()
        self._single.release()

    def let_step(self) -> None:
        """Let it make one more step."""
        self._single.release()

    def load(self, bundle: Path, options: EngineOptions, observer: EngineObserver) -> Engine:
        """Load an engine that this valve controls; it stands in for `Engine.load`."""
        observed = observer.step

        def step(rows: int, seconds: float) -> None:
            observed(rows, seconds)
            self.steps += 1
            if not self._open.is_set():
                self._single.acquire(timeout=DEADLINE)
            if self.error is not None:
                raise self.error
            self._ended += 1

        observer.step = step  # type: ignore[method-assign]
        # One step loop: what is held up then is all that runs.
        self._engine = Engine.load(bundle, replace(options, decoder_workers=1), observer)
        return self._engine


class Process:
    """A server in a process of its own."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self.port = self.metrics_port = 0

    def wait_for(self, event: str) -> dict[str, Any]:
        """Read the log up to the line of this event."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            entry: dict[str, Any] = json.loads(line)
            if entry["event"] == "listening":
                self.port, self.metrics_port = entry["port"], entry["metrics_port"]
            if entry["event"] == event:
                return entry
        raise AssertionError(f"no {event} in:\n{''.join(self.lines)}")

    def calls_started(self) -> int:
        """How many TranslateText calls have reached the server."""
        url = f"http://127.0.0.1:{self.metrics_port}/metrics"
        with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
            lines = answer.read().decode().splitlines()
        (line,) = (
            line
            for line in lines
            if line.startswith("grpc_server_started_total") and '"TranslateText"' in line
        )
        return int(float(line.split()[-1]))

    def end(self) -> tuple[int, str]:
        """Wait for the end; give exit code and what was left of standard error."""
        _, rest = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, rest


@contextmanager
def process(bundle: Path, *flags: str, command: Sequence[str] = MODULE) -> Iterator[Process]:
    """A server process, serving; killed at the end if it still runs."""
    ports = ("--port", "0", "--metrics-port", "0")
    threads = ("--decoder-threads", "1", "--encoder-threads", "1")
    server = Process(*command, "--bundle", str(bundle), *ports, *threads, *flags)
    try:
        server.wait_for("serving")
        yield server
    finally:
        server.process.kill()
        server.process.communicate()
