"""Everything that a call can raise.

::

    DragomanError
    ├── InvalidArgumentError (ValueError)      the server or the SDK refuses a value
    ├── NotFoundError                          no such model, or no such health service
    ├── OverloadedError                        the queue is full; `retry_after` says when to return
    ├── MessageTooLargeError                   a request or an answer is over the limit of bytes
    ├── UnavailableError                       the server is starting, stopping or has failed
    │   └── UnreachableError                   no server answers, or the connection broke
    ├── DeadlineExceededError (TimeoutError)   `timeout` passed
    ├── CancelledError                         the call was cancelled: by `cancel()`, by `close()`
    │                                          or by the server
    ├── UnauthenticatedError                   the call's metadata proves no identity
    ├── PermissionDeniedError                  the identity may not do that
    ├── UnimplementedError                     the server does not know the method
    ├── InternalError                          a fault of the server; `error_id` is in its log
    ├── ProtocolError                          the answer is not what the contract says
    ├── ClientClosedError (RuntimeError)       the client was closed before the call
    ├── StreamNotEndedError (RuntimeError)     a stream's result was asked for before its end
    └── ForkError (RuntimeError)               gRPC might hang in this forked process

A wrong type of argument raises `TypeError`, before anything is sent. A cancelled asyncio task
raises `asyncio.CancelledError` as always.
"""

from __future__ import annotations

from dataclasses import dataclass

import grpc


class DragomanError(Exception):
    """Base class of all errors of the SDK.

    Attributes:
        code: the gRPC status code that the error stands for; None where there is none.
        reason: the server's reason, for example ``"QUEUE_FULL"``; empty where it gave none.
        partial_text: what a stream had delivered before it failed; empty for other calls.
    """

    code: grpc.StatusCode | None = None
    reason: str = ""
    partial_text: str = ""


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that was refused.

    Attributes:
        field: path of the field, for example ``"contents[2]"``; empty where it has none.
        description: what is wrong with it, with the value and the bound.
    """

    field: str
    description: str


class InvalidArgumentError(DragomanError, ValueError):
    """The server or the SDK refuses a value.

    Attributes:
        violations: every field that was refused, in the server's order; empty where it named none.
    """

    code = grpc.StatusCode.INVALID_ARGUMENT

    def __init__(self, message: str, *, violations: tuple[FieldViolation, ...] = ()) -> None:
        super().__init__(message)
        self.violations = violations

    @classmethod
    def of(cls, field: str, description: str) -> InvalidArgumentError:
        """The SDK's own refusal of one field."""
        violation = FieldViolation(field, description)
        return cls(f"{field}: {description}", violations=(violation,))

    @property
    def field(self) -> str:
        """Path of the first refused field; empty where none was named."""
        return self.violations[0].field if self.violations else ""

    @property
    def description(self) -> str:
        """What is wrong with that field; the whole message where none was named."""
        return self.violations[0].description if self.violations else str(self)


class NotFoundError(DragomanError):
    """There is no such model, or no such service to ask the health of."""

    code = grpc.StatusCode.NOT_FOUND


class _RetryableError(DragomanError):
    """An error after which the server may ask the client to come back.

    Attributes:
        retry_after: seconds after which to try again; None where the server did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class OverloadedError(_RetryableError):
    """The server has more to do than it may queue.

    Attributes:
        retry_after: seconds after which to try again; None where the server did not say. The SDK
            has already tried again as far as the deadline allowed.
    """

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class MessageTooLargeError(DragomanError):
    """A request or an answer is larger than one of the two sides accepts. Never retried."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class UnavailableError(_RetryableError):
    """The server is starting, stopping, or its engine has failed.

    Attributes:
        retry_after: seconds after which to try again; None where the server did not say. gRPC has
            already tried again a few times.
    """

    code = grpc.StatusCode.UNAVAILABLE


class UnreachableError(UnavailableError):
    """No server answers at the address, or the connection broke."""


class DeadlineExceededError(DragomanError, TimeoutError):
    """The call took longer than its `timeout`."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class CancelledError(DragomanError):
    """The call was cancelled, by this side or by the server."""

    code = grpc.StatusCode.CANCELLED


class UnauthenticatedError(DragomanError):
    """The call's metadata proves no identity; Dragoman itself asks for none, a proxy may."""

    code = grpc.StatusCode.UNAUTHENTICATED


class PermissionDeniedError(DragomanError):
    """The identity may not do that; Dragoman itself forbids nothing, a proxy may."""

    code = grpc.StatusCode.PERMISSION_DENIED


class UnimplementedError(DragomanError):
    """The server does not know the method: it is older, or no Dragoman server."""

    code = grpc.StatusCode.UNIMPLEMENTED


class InternalError(DragomanError):
    """A fault of the server.

    Attributes:
        error_id: opaque id under which the server's log tells more; empty where it gave none.
    """

    code = grpc.StatusCode.INTERNAL

    def __init__(self, message: str, *, error_id: str = "") -> None:
        super().__init__(message)
        self.error_id = error_id


class ProtocolError(DragomanError):
    """The answer is not what the contract says, for example one translation too few."""


class ClientClosedError(DragomanError, RuntimeError):
    """The client was closed before the call."""


class StreamNotEndedError(DragomanError, RuntimeError):
    """A stream's result was asked for before its end, or although it failed."""


class ForkError(DragomanError, RuntimeError):
    """This process was forked where gRPC might hang; the message tells why, and what to do."""
