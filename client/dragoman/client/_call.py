"""One call, ready to be carried out on either gRPC stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2_grpc

from dragoman.client._retry import Attempts
from dragoman.client._settings import Settings
from dragoman.client._status import exception_of
from dragoman.client._tls_names import explain, is_mismatch
from dragoman.client.errors import ClientClosedError, DragomanError
from dragoman.v1 import model_pb2_grpc, translation_pb2_grpc

Result = TypeVar("Result")


class Stubs:
    """The services' stubs on one channel, of either gRPC stack."""

    __slots__ = ("health", "model", "translation")

    def __init__(self, channel: Any) -> None:  # noqa: ANN401 - either stack's channel
        self.translation: Any = translation_pb2_grpc.TranslationServiceStub(channel)
        self.model: Any = model_pb2_grpc.ModelServiceStub(channel)
        self.health: Any = health_pb2_grpc.HealthStub(channel)


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One call, ready to be carried out.

    Attributes:
        method: picks the method among the stubs.
        request: what is sent.
        parse: makes the result of the response.
        attempts: the time and the attempts that it has; they count from now.
        metadata: what is sent beside the request.
        settings: the client's.
        known: the result where it is known without a call.
    """

    method: Callable[[Stubs], Any]
    request: Message
    parse: Callable[[Any], Result]
    attempts: Attempts
    metadata: tuple[tuple[str, str | bytes], ...]
    settings: Settings
    known: Result | None = None

    def start(self, stubs: Stubs) -> Any:  # noqa: ANN401 - either stack's call
        """Start an attempt on a channel; the blocking stack also ends a unary call here.

        Raises:
            ClientClosedError: the channel is closed.
            grpc.RpcError: the call failed.
        """
        try:
            return self.method(stubs)(
                self.request, timeout=self.attempts.remaining(), metadata=self.metadata
            )
        except ValueError as error:
            if "closed" not in str(error):
                raise
            raise ClientClosedError("the channel is closed") from error

    def failure(self, error: grpc.RpcError) -> DragomanError:
        """The exception for an attempt that failed."""
        return exception_of(error, self.settings.address, self.attempts.timeout)

    def can_explain(self, failure: DragomanError) -> bool:
        """Whether `explain` may find out more."""
        return is_mismatch(failure, self.settings)

    def explain(self, failure: DragomanError) -> DragomanError:
        """The same failure, telling more where it can be found out; then it connects and blocks."""
        return explain(failure, self.settings, self.attempts.remaining())
