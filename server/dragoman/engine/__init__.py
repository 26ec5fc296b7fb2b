"""The engine: loads a bundle and decodes many requests in one running batch.

It knows neither gRPC nor torch. `Engine.load(path)`, `start()`, `submit(request, on_event)`,
`stop()`; what goes in and comes out is in `dragoman.engine.request`.
"""

from dragoman.engine import privacy

# isort: split
from dragoman.engine.bundle import Bundle
from dragoman.engine.decoding import DecodingOptions, OnDeadline, SamplingOptions, Term
from dragoman.engine.engine import Engine
from dragoman.engine.errors import (
    BundleError,
    DeadlineExceededError,
    EngineError,
    EngineFailedError,
    EngineStoppedError,
    InvalidOptionError,
    InvalidRequestError,
    NumericsError,
    OutOfBoundsError,
    QueueFullError,
    RequestCancelledError,
)
from dragoman.engine.handle import RequestHandle
from dragoman.engine.observer import EngineObserver
from dragoman.engine.options import EngineLimits, EngineOptions
from dragoman.engine.request import (
    Candidate,
    Event,
    Failed,
    Finished,
    FinishReason,
    Hypothesis,
    NextTokenPrediction,
    NextTokenRequest,
    NextTokenResult,
    Prefix,
    QueriedToken,
    TokensCommitted,
    TranslationRequest,
    TranslationResult,
)
from dragoman.engine.score import Alignment, ScoreRequest, ScoreResult, TargetScore
from dragoman.engine.statistics import EngineStatistics
from dragoman.engine.text import SplitText, split_text
from dragoman.engine.timing import RequestTiming
from dragoman.engine.tokenizer import SpecialTokens, StreamDecoder, Tokenizer

__all__ = [
    "Alignment",
    "Bundle",
    "BundleError",
    "Candidate",
    "DeadlineExceededError",
    "DecodingOptions",
    "Engine",
    "EngineError",
    "EngineFailedError",
    "EngineLimits",
    "EngineObserver",
    "EngineOptions",
    "EngineStatistics",
    "EngineStoppedError",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "Hypothesis",
    "InvalidOptionError",
    "InvalidRequestError",
    "NextTokenPrediction",
    "NextTokenRequest",
    "NextTokenResult",
    "NumericsError",
    "OnDeadline",
    "OutOfBoundsError",
    "Prefix",
    "QueriedToken",
    "QueueFullError",
    "RequestCancelledError",
    "RequestHandle",
    "RequestTiming",
    "SamplingOptions",
    "ScoreRequest",
    "ScoreResult",
    "SpecialTokens",
    "SplitText",
    "StreamDecoder",
    "TargetScore",
    "Term",
    "Tokenizer",
    "TokensCommitted",
    "TranslationRequest",
    "TranslationResult",
    "privacy",
    "split_text",
]
