"""Ends every call that fails with a status of the contract, and no other."""

import asyncio
from collections.abc import Callable, Mapping

import grpc
from google.protobuf.message import DecodeError
from structlog.typing import FilteringBoundLogger

from dragoman.server.errors import InvalidEncodingError, UnknownMethodError
from dragoman.server.interceptors.base import Behaviour, Context, Handler, Interceptor, Method
from dragoman.server.metrics import ProblemMetrics
from dragoman.server.status import problem_of


class ErrorInterceptor(Interceptor):
    """Innermost: turns whatever a handler raises into a ``google.rpc.Status``.

    It also answers for messages that cannot be read and for methods that do not exist, which gRPC
    itself would report without details (and the first as UNKNOWN).
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        logger: FilteringBoundLogger,
        metrics: ProblemMetrics,
    ) -> None:
        super().__init__(methods)
        self._logger = logger
        self._metrics = metrics

    def prepare(self, handler: Handler | None, path: str) -> Handler:
        """Make the handler lenient about bad bytes, or make one that says UNIMPLEMENTED."""
        if handler is None:
            return _missing_method(path)
        if handler.request_deserializer is None:
            return handler
        return handler._replace(request_deserializer=_lenient(handler.request_deserializer))

    async def around(
        self, method: Method, proceed: Behaviour, request: object, context: Context
    ) -> object:
        """See `Interceptor.around`."""
        try:
            if isinstance(request, InvalidEncodingError):
                raise request
            return await proceed(request, context)
        except (asyncio.CancelledError, grpc.aio.BaseError):
            raise  # the client went away, or the call has its status already
        except Exception as error:  # noqa: BLE001  (the one place where all errors end)
            failure = error
        await self._abort(method, context, failure)
        return None

    async def _abort(self, method: Method, context: Context, error: Exception) -> None:
        problem = problem_of(error)
        self._metrics.count(problem.reason)
        if problem.internal:
            self._logger.error(
                "internal_error",
                method=f"{method.service}/{method.name}",
                exc_info=error,
                **problem.metadata,
            )
        await context.abort(problem.code, problem.message, problem.trailers())


def _missing_method(path: str) -> Handler:
    async def refuse(requests: object, context: Context) -> None:  # noqa: ARG001
        raise UnknownMethodError(path)

    return grpc.stream_stream_rpc_method_handler(refuse)


def _lenient(deserialize: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Give the error as the request: gRPC would answer UNKNOWN if the deserializer raised it."""

    def read(data: bytes) -> object:
        try:
            return deserialize(data)
        except (DecodeError, UnicodeDecodeError):
            owner = getattr(deserialize, "__self__", None)
            return InvalidEncodingError(getattr(owner, "__name__", "message"))

    return read
