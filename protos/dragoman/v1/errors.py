"""The names that errors of the contract use, for both ends (see ``translation.proto``)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

DOMAIN: Final = "dragoman.v1"
"""``google.rpc.ErrorInfo.domain`` of every error."""

MODEL_KEY: Final = "model"
"""Metadata key of ``MODEL_NOT_FOUND``: the name that is not served."""

ERROR_ID_KEY: Final = "error_id"
"""Metadata key of ``INTERNAL``: the opaque id under which the server's log tells the rest."""

RETRY_PUSHBACK_TRAILER: Final = "grpc-retry-pushback-ms"
"""Trailer that repeats the delay of a ``google.rpc.RetryInfo``, in whole milliseconds."""


class ErrorReason(StrEnum):
    """``google.rpc.ErrorInfo.reason``, with the status code that it comes with."""

    INVALID_FIELD = "INVALID_FIELD"
    """INVALID_ARGUMENT; a ``google.rpc.BadRequest`` names each field."""

    INVALID_ENCODING = "INVALID_ENCODING"
    """INVALID_ARGUMENT: the request is not a valid message."""

    MODEL_NOT_FOUND = "MODEL_NOT_FOUND"
    """NOT_FOUND; the metadata holds the name."""

    METHOD_NOT_FOUND = "METHOD_NOT_FOUND"
    """UNIMPLEMENTED: the server has no such method."""

    QUEUE_FULL = "QUEUE_FULL"
    """RESOURCE_EXHAUSTED; a ``google.rpc.RetryInfo`` says when to come back."""

    NOT_READY = "NOT_READY"
    """UNAVAILABLE: the server is still starting; with a ``google.rpc.RetryInfo``."""

    DRAINING = "DRAINING"
    """UNAVAILABLE: the server is about to stop; with a ``google.rpc.RetryInfo``."""

    ENGINE_FAILED = "ENGINE_FAILED"
    """UNAVAILABLE: the engine has stopped for good; with a ``google.rpc.RetryInfo``."""

    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """DEADLINE_EXCEEDED: the call's own deadline passed."""

    CANCELLED = "CANCELLED"
    """CANCELLED: the call was cancelled."""

    INTERNAL = "INTERNAL"
    """INTERNAL: a fault of the server; the metadata holds an id."""
