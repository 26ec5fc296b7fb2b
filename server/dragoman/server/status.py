"""The one place that turns an error into a ``google.rpc.Status``.

Every status carries one ErrorInfo; INVALID_ARGUMENT a BadRequest besides; what may be tried again
a RetryInfo and the ``grpc-retry-pushback-ms`` trailer that gRPC's own retries obey. What is not
meant for clients becomes INTERNAL with an opaque id; the log has the rest under the same id.
"""

import secrets
from dataclasses import dataclass, field

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from dragoman.engine import (
    DeadlineExceededError,
    EngineFailedError,
    EngineStoppedError,
    InvalidRequestError,
    QueueFullError,
    RequestCancelledError,
)
from dragoman.server.errors import (
    DrainingError,
    InvalidEncodingError,
    InvalidFieldError,
    NotReadyError,
    OverloadedError,
    UnknownMethodError,
    UnknownModelError,
)
from dragoman.v1.errors import (
    DOMAIN,
    ERROR_ID_KEY,
    MODEL_KEY,
    RETRY_PUSHBACK_TRAILER,
    ErrorReason,
)

STATUS_DETAILS_TRAILER = "grpc-status-details-bin"
ENGINE_FAILED = "the engine has failed; this server is about to end"
RESTART_SECONDS = 1.0
"""When to try again a server that starts, drains or failed: another one may answer at once."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a client is told about an error.

    Attributes:
        code: status code of the call.
        reason: ``ErrorInfo.reason``.
        message: one line for people.
        violations: (field, description) pairs of the BadRequest.
        metadata: ``ErrorInfo.metadata``.
        retry_after_seconds: delay of the RetryInfo; None where trying again is no use.
        internal: whether the error is the server's own fault and belongs into its log.
    """

    code: grpc.StatusCode
    reason: ErrorReason
    message: str
    violations: tuple[tuple[str, str], ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    retry_after_seconds: float | None = None
    internal: bool = False

    def trailers(self) -> tuple[tuple[str, str | bytes], ...]:
        """Trailing metadata: the rich status, and the push-back where there is a delay."""
        details = (STATUS_DETAILS_TRAILER, self._status().SerializeToString())
        if self.retry_after_seconds is None:
            return (details,)
        return details, (RETRY_PUSHBACK_TRAILER, str(_milliseconds(self.retry_after_seconds)))

    def _status(self) -> status_pb2.Status:
        status = status_pb2.Status(code=self.code.value[0], message=self.message)
        status.details.add().Pack(
            error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata)
        )
        if self.violations:
            bad_request = error_details_pb2.BadRequest()
            for name, description in self.violations:
                bad_request.field_violations.add(field=name, description=description)
            status.details.add().Pack(bad_request)
        if self.retry_after_seconds is not None:
            delay = Duration()
            delay.FromMilliseconds(_milliseconds(self.retry_after_seconds))
            status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        return status


def problem_of(error: Exception) -> Problem:
    """Classify any error that a handler may raise; what is not foreseen is INTERNAL."""
    for kinds, code, reason in _FORESEEN:
        if isinstance(error, kinds):
            return Problem(
                code,
                reason,
                _message(error),
                violations=_violations(error),
                metadata=_metadata(error),
                retry_after_seconds=_retry_after_seconds(error, code),
            )
    error_id = secrets.token_hex(8)
    return Problem(
        grpc.StatusCode.INTERNAL,
        ErrorReason.INTERNAL,
        f"internal error {error_id}",
        metadata={ERROR_ID_KEY: error_id},
        internal=True,
    )


Kinds = type[Exception] | tuple[type[Exception], ...]
_FORESEEN: tuple[tuple[Kinds, grpc.StatusCode, ErrorReason], ...] = (
    (
        (InvalidFieldError, InvalidRequestError),
        grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.INVALID_FIELD,
    ),
    (
        InvalidEncodingError,
        grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.INVALID_ENCODING,
    ),
    (UnknownModelError, grpc.StatusCode.NOT_FOUND, ErrorReason.MODEL_NOT_FOUND),
    (UnknownMethodError, grpc.StatusCode.UNIMPLEMENTED, ErrorReason.METHOD_NOT_FOUND),
    ((OverloadedError, QueueFullError), grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.QUEUE_FULL),
    (NotReadyError, grpc.StatusCode.UNAVAILABLE, ErrorReason.NOT_READY),
    ((DrainingError, EngineStoppedError), grpc.StatusCode.UNAVAILABLE, ErrorReason.DRAINING),
    (EngineFailedError, grpc.StatusCode.UNAVAILABLE, ErrorReason.ENGINE_FAILED),
    (
        DeadlineExceededError,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        ErrorReason.DEADLINE_EXCEEDED,
    ),
    (RequestCancelledError, grpc.StatusCode.CANCELLED, ErrorReason.CANCELLED),
)


def _message(error: Exception) -> str:
    # What broke the engine is for the log, which has it once, and not for clients.
    return ENGINE_FAILED if isinstance(error, EngineFailedError) else str(error)


def _metadata(error: Exception) -> dict[str, str]:
    # Trailers have a size limit that a made-up name must not break.
    return {MODEL_KEY: error.name[:200]} if isinstance(error, UnknownModelError) else {}


def _violations(error: Exception) -> tuple[tuple[str, str], ...]:
    if isinstance(error, InvalidFieldError | InvalidRequestError):
        return ((error.field, str(error)),)
    if isinstance(error, InvalidEncodingError):
        return ((error.message_name, str(error)),)
    return ()


def _retry_after_seconds(error: Exception, code: grpc.StatusCode) -> float | None:
    if isinstance(error, OverloadedError | QueueFullError):
        return error.retry_after_seconds
    return RESTART_SECONDS if code is grpc.StatusCode.UNAVAILABLE else None


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
