"""One line in the log for each call: who, what, how long, with which end."""

import time
from collections.abc import Mapping
from contextvars import ContextVar

import grpc
from grpc_health.v1 import health_pb2
from structlog.typing import FilteringBoundLogger

from dragoman.server.interceptors.base import Behaviour, Context, Interceptor, Method, outcome

_facts: ContextVar[dict[str, object] | None] = ContextVar("call_facts", default=None)
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


def note(**facts: object) -> None:
    """Add facts about the running call (counts, never texts unless asked to) to its line."""
    line = _facts.get()
    if line is not None:
        line.update(facts)


class AccessLogInterceptor(Interceptor):
    """Writes a line when a call has ended; calls of the health service only at debug level."""

    def __init__(self, methods: Mapping[str, Method], logger: FilteringBoundLogger) -> None:
        super().__init__(methods)
        self._logger = logger

    async def around(
        self, method: Method, proceed: Behaviour, request: object, context: Context
    ) -> object:
        """See `Interceptor.around`."""
        facts: dict[str, object] = {}
        _facts.set(facts)
        begin = time.perf_counter()
        failure: BaseException | None = None
        try:
            return await proceed(request, context)
        except BaseException as error:
            failure = error
            raise
        finally:
            self._write(method, context, outcome(context, failure), begin, facts)

    def _write(
        self,
        method: Method,
        context: Context,
        code: grpc.StatusCode,
        begin: float,
        facts: dict[str, object],
    ) -> None:
        write = self._logger.debug if method.service == _HEALTH else self._logger.info
        if code is not grpc.StatusCode.OK and context.details():
            facts["problem"] = _text(context.details())
        write(
            "call",
            method=f"{method.service}/{method.name}",
            code=code.name,
            seconds=round(time.perf_counter() - begin, 6),
            peer=context.peer(),
            **facts,
        )


def _text(details: str | bytes) -> str:
    return details if isinstance(details, str) else details.decode("utf-8", "replace")
