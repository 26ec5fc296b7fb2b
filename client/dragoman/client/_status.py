"""From a gRPC status to an exception of the SDK: the one place where errors are mapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from dragoman.client.errors import (
    CancelledError,
    DeadlineExceededError,
    DragomanError,
    FieldViolation,
    InternalError,
    InvalidArgumentError,
    MessageTooLargeError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnreachableError,
)
from dragoman.v1.errors import DOMAIN, ERROR_ID_KEY

_TRAILER = "grpc-status-details-bin"
_TOO_LARGE = "message larger than max"

_PLAIN: dict[grpc.StatusCode, type[DragomanError]] = {
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.CANCELLED: CancelledError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.UNIMPLEMENTED: UnimplementedError,
}


@dataclass(frozen=True, slots=True)
class _Details:
    message: str
    reason: str = ""
    error_id: str = ""
    retry_after: float | None = None
    violations: tuple[FieldViolation, ...] = ()


def exception_of(error: grpc.RpcError, address: str, timeout: float | None) -> DragomanError:
    """The SDK's exception for the one that gRPC raised.

    Args:
        error: gRPC's exception, of either stack.
        address: where the call went, for messages.
        timeout: the call's time limit in seconds, for messages; None for none.
    """
    code, details = error.code(), _details(error)
    failure = _failure(code, details, address, timeout)
    failure.code, failure.reason = code, details.reason
    return failure


def _failure(
    code: grpc.StatusCode, details: _Details, address: str, timeout: float | None
) -> DragomanError:
    match code:
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return _late(address, timeout)
        case grpc.StatusCode.INVALID_ARGUMENT:
            return InvalidArgumentError(details.message, violations=details.violations)
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            return _exhausted(details)
        case grpc.StatusCode.UNAVAILABLE:
            return _unavailable(details, address)
        case grpc.StatusCode.INTERNAL | grpc.StatusCode.UNKNOWN | grpc.StatusCode.DATA_LOSS:
            return InternalError(details.message, error_id=details.error_id)
        case _:
            return _PLAIN.get(code, DragomanError)(details.message)


def _late(address: str, timeout: float | None) -> DragomanError:
    limit = "in time" if timeout is None else f"within {timeout:g} s"
    return DeadlineExceededError(f"no answer from {address} {limit}")


def _exhausted(details: _Details) -> DragomanError:
    if not details.reason and _TOO_LARGE in details.message:
        return MessageTooLargeError(details.message)
    return OverloadedError(details.message, retry_after=details.retry_after)


def _unavailable(details: _Details, address: str) -> DragomanError:
    if details.reason or details.retry_after is not None:
        return UnavailableError(details.message, retry_after=details.retry_after)
    return UnreachableError(f"cannot reach {address}: {details.message}")


def _details(error: grpc.RpcError) -> _Details:
    message = error.details() or error.code().name.lower().replace("_", " ")
    trailers: Any = error.trailing_metadata() or ()
    for key, value in trailers:
        if key == _TRAILER and isinstance(value, bytes):
            try:
                return _unpack(status_pb2.Status.FromString(value), message)
            except DecodeError:
                break
    return _Details(message)


def _unpack(status: status_pb2.Status, message: str) -> _Details:
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    retry_after = None
    for detail in status.details:
        any_info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        if detail.Unpack(any_info):
            # A proxy may have added one of its own.
            info = any_info if any_info.domain == DOMAIN else info
        elif detail.Unpack(retry):
            retry_after = retry.retry_delay.ToNanoseconds() / 1e9
        else:
            detail.Unpack(bad)
    return _Details(
        status.message or message,
        reason=info.reason,
        error_id=info.metadata.get(ERROR_ID_KEY, ""),
        retry_after=retry_after,
        violations=tuple(FieldViolation(v.field, v.description) for v in bad.field_violations),
    )
