"""Speak to a Dragoman server.

>>> from dragoman.client import Client
>>> with Client("127.0.0.1:50051") as client:
...     print(client.translate("Good morning.").text)

`AsyncClient` does the same for asyncio. Calls return the frozen values listed here and raise the
errors of `dragoman.client.errors`, `DragomanError` above them all.
"""

from dragoman.client.async_client import AsyncClient
from dragoman.client.async_stream import AsyncTranslationStream
from dragoman.client.client import Client
from dragoman.client.decoding import Sampling, Term
from dragoman.client.errors import (
    CancelledError,
    ClientClosedError,
    DeadlineExceededError,
    DragomanError,
    FieldViolation,
    ForkError,
    InternalError,
    InvalidArgumentError,
    MessageTooLargeError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProtocolError,
    StreamNotEndedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnreachableError,
)
from dragoman.client.models import (
    Architecture,
    CertificateCheck,
    DataOrigin,
    Model,
    Training,
)
from dragoman.client.options import (
    DEFAULT_ADDRESS,
    DEFAULT_KEEPALIVE_SECONDS,
    DEFAULT_KEEPALIVE_TIMEOUT_SECONDS,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_TIMEOUT,
    NOT_GIVEN,
    CallOptions,
    Metadata,
    ModelOptions,
    NotGiven,
    Timeout,
    Tls,
    TokenIds,
    TranslateOptions,
)
from dragoman.client.results import (
    Alignment,
    Candidate,
    Chunk,
    FinishReason,
    Hypothesis,
    NextToken,
    OutputToken,
    QueriedToken,
    ServingStatus,
    SourceToken,
    TermResult,
    Translation,
    TranslationScore,
)
from dragoman.client.stream import TranslationStream

__all__ = [
    "DEFAULT_ADDRESS",
    "DEFAULT_KEEPALIVE_SECONDS",
    "DEFAULT_KEEPALIVE_TIMEOUT_SECONDS",
    "DEFAULT_MAX_ATTEMPTS",
    "DEFAULT_TIMEOUT",
    "NOT_GIVEN",
    "Alignment",
    "Architecture",
    "AsyncClient",
    "AsyncTranslationStream",
    "CallOptions",
    "CancelledError",
    "Candidate",
    "CertificateCheck",
    "Chunk",
    "Client",
    "ClientClosedError",
    "DataOrigin",
    "DeadlineExceededError",
    "DragomanError",
    "FieldViolation",
    "FinishReason",
    "ForkError",
    "Hypothesis",
    "InternalError",
    "InvalidArgumentError",
    "MessageTooLargeError",
    "Metadata",
    "Model",
    "ModelOptions",
    "NextToken",
    "NotFoundError",
    "NotGiven",
    "OutputToken",
    "OverloadedError",
    "PermissionDeniedError",
    "ProtocolError",
    "QueriedToken",
    "Sampling",
    "ServingStatus",
    "SourceToken",
    "StreamNotEndedError",
    "Term",
    "TermResult",
    "Timeout",
    "Tls",
    "TokenIds",
    "Training",
    "TranslateOptions",
    "Translation",
    "TranslationScore",
    "TranslationStream",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnreachableError",
]
