"""Small servers on the loopback interface, each good for one purpose."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from dragoman.v1 import model_pb2, model_pb2_grpc, translation_pb2, translation_pb2_grpc
from dragoman.v1.errors import DOMAIN, ERROR_ID_KEY
from dragoman.v1.limits import MAX_MESSAGE_BYTES

MODEL = "models/shout"
DETAILS = "grpc-status-details-bin"


@dataclass(frozen=True, slots=True)
class Failure:
    """A status for a call to end with."""

    code: grpc.StatusCode
    message: str = "as the test wants"
    reason: str = ""
    details: tuple[Message, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()

    def end(self, context: Any) -> None:
        """End a call with it."""
        metadata: list[tuple[str, str | bytes]] = list(self.trailers)
        if self.reason or self.details:
            metadata.append((DETAILS, self.status().SerializeToString()))
        context.set_trailing_metadata(tuple(metadata))
        context.abort(self.code, self.message)

    def status(self) -> status_pb2.Status:
        """The same as ``google.rpc.Status``."""
        status = status_pb2.Status(code=self.code.value[0], message=self.message)
        for detail in (
            error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN),
            *self.details,
        ):
            status.details.add().Pack(detail)
        return status


def retry_info(seconds: float) -> error_details_pb2.RetryInfo:
    delay = Duration()
    delay.FromNanoseconds(round(seconds * 1e9))
    return error_details_pb2.RetryInfo(retry_delay=delay)


def queue_full(seconds: float | None = 0.05) -> Failure:
    details = () if seconds is None else (retry_info(seconds),)
    return Failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "the queue is full", "QUEUE_FULL", details)


def draining(pushback_milliseconds: int | None = None) -> Failure:
    trailers: tuple[tuple[str, str], ...] = ()
    if pushback_milliseconds is not None:
        trailers = (("grpc-retry-pushback-ms", str(pushback_milliseconds)),)
    return Failure(
        grpc.StatusCode.UNAVAILABLE, "the server stops", "DRAINING", (retry_info(1),), trailers
    )


def invalid(*violations: tuple[str, str]) -> Failure:
    bad_request = error_details_pb2.BadRequest()
    for field, description in violations:
        bad_request.field_violations.add(field=field, description=description)
    return Failure(grpc.StatusCode.INVALID_ARGUMENT, "no good", "INVALID_FIELD", (bad_request,))


def internal(error_id: str) -> Failure:
    status = Failure(grpc.StatusCode.INTERNAL, f"internal error {error_id}")
    info = error_details_pb2.ErrorInfo(
        reason="INTERNAL", domain=DOMAIN, metadata={ERROR_ID_KEY: error_id}
    )
    return Failure(status.code, status.message, "", (info,))


class Shouting(translation_pb2_grpc.TranslationServiceServicer):
    """Translates into capitals. Fails as often as `failures` has failures, then works.

    Attributes:
        requests: every request, those that failed included.
        metadata: what came with the last one.
        failures: how the next calls end, before their first answer.
        break_after: after how many pieces a stream ends with `break_with`; None for never.
        patience: seconds between two pieces of a stream.
        answering: calls wait for it.
        running: handlers at work.
    """

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.metadata: dict[str, str | bytes] = {}
        self.failures: deque[Failure] = deque()
        self.break_after: int | None = None
        self.break_with = Failure(grpc.StatusCode.UNAVAILABLE, "gone", "DRAINING")
        self.patience = 0.0
        self.answering = threading.Event()
        self.answering.set()
        self.running = 0
        self._lock = threading.Lock()

    def TranslateText(
        self, request: translation_pb2.TranslateTextRequest, context: Any
    ) -> translation_pb2.TranslateTextResponse:
        with self._call(request, context):
            return translation_pb2.TranslateTextResponse(
                translations=[self.translated(text) for text in request.contents], model=MODEL
            )

    def StreamTranslateText(
        self, request: translation_pb2.StreamTranslateTextRequest, context: Any
    ) -> Iterator[translation_pb2.StreamTranslateTextResponse]:
        with self._call(request, context):
            for index, piece in enumerate(pieces(request.content)):
                if index == self.break_after:
                    self.break_with.end(context)
                yield translation_pb2.StreamTranslateTextResponse(text_delta=piece.upper())
                if not wait_while_active(context, self.patience):
                    return
            yield translation_pb2.StreamTranslateTextResponse(
                summary=translation_pb2.TranslationSummary(
                    log_probability=-0.5,
                    finish_reason=translation_pb2.FINISH_REASON_STOP,
                    usage=translation_pb2.Usage(source_token_count=2, target_token_count=1),
                    model=MODEL,
                )
            )

    def PredictNextToken(
        self, request: translation_pb2.PredictNextTokenRequest, context: Any
    ) -> translation_pb2.PredictNextTokenResponse:
        with self._call(request, context):
            return translation_pb2.PredictNextTokenResponse(
                predictions=[self.predicted(request, prefix) for prefix in request.target_prefixes],
                model=MODEL,
                source_token_count=7,
            )

    def ScoreTranslation(
        self, request: translation_pb2.ScoreTranslationRequest, context: Any
    ) -> translation_pb2.ScoreTranslationResponse:
        with self._call(request, context):
            return translation_pb2.ScoreTranslationResponse(
                scores=[
                    translation_pb2.TranslationScore(log_probability=-len(translation.text))
                    for translation in request.translations
                ],
                model=MODEL,
                source_token_count=7,
            )

    def translated(self, text: str) -> translation_pb2.Translation:
        usage = translation_pb2.Usage(
            source_token_count=len(text) + 1,
            target_token_count=len(text),
            queue_duration=Duration(nanos=500_000_000),
            model_duration=Duration(seconds=2),
        )
        return translation_pb2.Translation(
            text=text.upper(),
            log_probability=-1.5,
            finish_reason=translation_pb2.FINISH_REASON_STOP,
            usage=usage,
        )

    def predicted(
        self,
        request: translation_pb2.PredictNextTokenRequest,
        prefix: translation_pb2.TargetPrefix,
    ) -> translation_pb2.NextTokenPrediction:
        ids = prefix.token_ids.ids or [ord(letter) for letter in prefix.text]
        return translation_pb2.NextTokenPrediction(
            candidates=[_candidate(index) for index in range(request.top_k)],
            queried_tokens=[
                translation_pb2.QueriedToken(
                    token_id=token, piece=f"▁{token}", text="", log_probability=-9.5, rank=token + 1
                )
                for token in request.queried_token_ids
            ],
            entropy=1.25,
            prefix_token_ids=translation_pb2.TokenIds(ids=ids),
        )

    @contextmanager
    def _call(self, request: Any, context: Any) -> Iterator[None]:
        self.requests.append(request)
        self.metadata = dict(context.invocation_metadata())
        with self._lock:
            self.running += 1
        try:
            while not self.answering.wait(0.005) and context.is_active():
                pass
            if self.failures:
                self.failures.popleft().end(context)
            yield
        finally:
            with self._lock:
                self.running -= 1


class Models(model_pb2_grpc.ModelServiceServicer):
    """Has some models, on pages of two."""

    def __init__(self, models: Sequence[model_pb2.Model]) -> None:
        self.models = list(models)
        self.requests: list[Any] = []

    def ListModels(
        self, request: model_pb2.ListModelsRequest, context: Any
    ) -> model_pb2.ListModelsResponse:
        self.requests.append(request)
        start = int(request.page_token or 0)
        end = start + 2
        return model_pb2.ListModelsResponse(
            models=self.models[start:end],
            next_page_token=str(end) if end < len(self.models) else "",
        )

    def GetModel(
        self, request: model_pb2.GetModelRequest, context: Any
    ) -> model_pb2.GetModelResponse:
        self.requests.append(request)
        for model in self.models:
            if request.name in ("", model.name):
                return model_pb2.GetModelResponse(model=model)
        Failure(grpc.StatusCode.NOT_FOUND, f"no {request.name}", "MODEL_NOT_FOUND").end(context)
        raise AssertionError


def _candidate(index: int) -> translation_pb2.TokenCandidate:
    return translation_pb2.TokenCandidate(
        token_id=index, piece=f"▁{index}", text=f" {index}", log_probability=-index - 0.25
    )


def pieces(text: str) -> list[str]:
    """A text in pieces that begin with a space, an empty one among them."""
    first, *others = text.split(" ")
    return [first, "", *(f" {word}" for word in others)]


def wait_while_active(context: Any, seconds: float) -> bool:
    """Wait, and say whether the call still goes on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and context.is_active():
        time.sleep(0.002)
    return bool(context.is_active())


def healthy() -> health.HealthServicer:
    servicer = health.HealthServicer()
    servicer.set("", health_pb2.HealthCheckResponse.SERVING)
    servicer.set("resting", health_pb2.HealthCheckResponse.NOT_SERVING)
    return servicer


@contextmanager
def served(
    *servicers: object,
    credentials: grpc.ServerCredentials | None = None,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    port: int = 0,
) -> Iterator[str]:
    """Serve on the loopback interface; gives the address."""
    server = grpc.server(
        ThreadPoolExecutor(max_workers=16),
        options=[
            ("grpc.max_receive_message_length", max_message_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", 10),
            ("grpc.http2.max_ping_strikes", 0),
        ],
    )
    for servicer in servicers:
        if isinstance(servicer, translation_pb2_grpc.TranslationServiceServicer):
            translation_pb2_grpc.add_TranslationServiceServicer_to_server(servicer, server)
        elif isinstance(servicer, model_pb2_grpc.ModelServiceServicer):
            model_pb2_grpc.add_ModelServiceServicer_to_server(servicer, server)
        else:
            health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    address = f"127.0.0.1:{port}"
    if credentials is None:
        bound = server.add_insecure_port(address)
    else:
        bound = server.add_secure_port(address, credentials)
    server.start()
    try:
        yield f"127.0.0.1:{bound}"
    finally:
        server.stop(None).wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class Proxy:
    """Passes TCP connections on to an address until it is told to swallow everything."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.swallowing = False
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                self._sockets += [near, far]
                for pair in ((near, far), (far, near)):
                    thread = threading.Thread(target=self._pass, args=pair, daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while received := source.recv(65536):
                if not self.swallowing:
                    target.sendall(received)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for each in self._sockets:
            each.close()


@contextmanager
def proxied(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()


def wait_until(condition: Any, seconds: float = 10.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return bool(condition())
