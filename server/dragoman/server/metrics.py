"""What the server counts: calls as every gRPC dashboard knows them, and the engine's own work.

The ``grpc_server_*`` family has the names, types and codes (``unary``, ``InvalidArgument``) of
go-grpc-prometheus, so that existing dashboards work. ``dragoman_*`` follows the conventions of
generative inference servers: time to first token includes the queue, time per output token does
not include the first. All series exist from the start, at zero.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import grpc
import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Info

from dragoman.server.interceptors.base import OTHER, Method
from dragoman.server.tallies import Distribution, Tallies, Tally
from dragoman.v1.errors import ErrorReason

TIME_TO_FIRST_TOKEN_BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0),
)
TIME_PER_TOKEN_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
SHORT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CALL_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
BATCH_BUCKETS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024)

REJECTIONS = frozenset(ErrorReason) - {
    ErrorReason.CANCELLED,
    ErrorReason.DEADLINE_EXCEEDED,
    ErrorReason.INTERNAL,
}

# The moment at which a series was made is of no use beside each of several hundred series.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class CallSeries:
    """The series of one method."""

    started: Tally
    handled: Mapping[grpc.StatusCode, Tally]
    seconds: Distribution


class CallMetrics:
    """The ``grpc_server_*`` family over a fixed set of methods and ``other``."""

    def __init__(self, registry: CollectorRegistry, methods: Iterable[Method]) -> None:
        tallies = Tallies(registry)
        labels = ("grpc_type", "grpc_service", "grpc_method")
        started = tallies.counter("grpc_server_started", "Calls started.", labels)
        handled = tallies.counter(
            "grpc_server_handled", "Calls ended, by status code.", (*labels, "grpc_code")
        )
        seconds = tallies.histogram(
            "grpc_server_handling_seconds", "Time of calls.", CALL_BUCKETS, labels
        )
        self._series = {
            method: CallSeries(
                started.labels(*_labels(method)),
                {
                    code: handled.labels(*_labels(method), code_name(code))
                    for code in grpc.StatusCode
                },
                seconds.labels(*_labels(method)),
            )
            for method in (*methods, OTHER)
        }

    def of(self, method: Method) -> CallSeries:
        """The series of `method`."""
        return self._series[method]


class ProblemMetrics:
    """Counts the calls that were refused, by the reason that the client was told."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._rejections = Counter(
            "dragoman_rejections", "Calls refused, by reason.", ("reason",), registry=registry
        )
        for reason in REJECTIONS:
            self._rejections.labels(reason.lower())

    def count(self, reason: ErrorReason) -> None:
        """Count a call that ended with this reason, if it is one of a refusal."""
        if reason in REJECTIONS:
            self._rejections.labels(reason.lower()).inc()


def code_name(code: grpc.StatusCode) -> str:
    """The code as go-grpc-prometheus spells it: OK, InvalidArgument, Canceled."""
    if code is grpc.StatusCode.OK:
        return "OK"
    if code is grpc.StatusCode.CANCELLED:
        return "Canceled"
    return "".join(word.capitalize() for word in code.name.split("_"))


def _labels(method: Method) -> tuple[str, str, str]:
    return method.type, method.service, method.name


def describe_process(registry: CollectorRegistry, version: str) -> None:
    """Register memory, CPU time, file descriptors, the interpreter and our version."""
    prometheus_client.ProcessCollector(registry=registry)
    prometheus_client.PlatformCollector(registry=registry)
    Info("dragoman_build", "Version of the server.", registry=registry).info({"version": version})


def watch_health(registry: CollectorRegistry, is_serving: Callable[[], bool]) -> None:
    """Register a gauge that is 1 while the server says SERVING."""
    gauge = Gauge("dragoman_serving", "Whether the server is SERVING.", registry=registry)
    gauge.set_function(lambda: float(is_serving()))
