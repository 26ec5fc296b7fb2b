"""Counts and times every call: the well-known ``grpc_server_*`` family."""

import time
from collections.abc import Mapping

from dragoman.server.interceptors.base import Behaviour, Context, Interceptor, Method, outcome
from dragoman.server.metrics import CallMetrics


class MetricsInterceptor(Interceptor):
    """Outermost: each call that starts is handled with exactly one code."""

    def __init__(self, methods: Mapping[str, Method], metrics: CallMetrics) -> None:
        super().__init__(methods)
        self._metrics = metrics
        self._last_start = 0.0

    @property
    def quiet_seconds(self) -> float:
        """Time since the last call began."""
        return time.perf_counter() - self._last_start

    async def around(
        self, method: Method, proceed: Behaviour, request: object, context: Context
    ) -> object:
        """See `Interceptor.around`."""
        series = self._metrics.of(method)
        series.started.inc()
        begin = self._last_start = time.perf_counter()
        failure: BaseException | None = None
        try:
            return await proceed(request, context)
        except BaseException as error:
            failure = error
            raise
        finally:
            series.seconds.observe(time.perf_counter() - begin)
            series.handled[outcome(context, failure)].inc()
