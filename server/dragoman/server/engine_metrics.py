"""What the engine does, as Prometheus series: an observer for events, a collector for levels."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dragoman.engine import (
    DeadlineExceededError,
    EngineError,
    EngineFailedError,
    EngineObserver,
    EngineStatistics,
    EngineStoppedError,
    FinishReason,
    NumericsError,
    RequestCancelledError,
)
from dragoman.server.metrics import (
    BATCH_BUCKETS,
    SHORT_BUCKETS,
    TIME_PER_TOKEN_BUCKETS,
    TIME_TO_FIRST_TOKEN_BUCKETS,
)

FINISHES = ("stop", "length", "next_token")
FAILURES: dict[type[EngineError], str] = {
    RequestCancelledError: "cancelled",
    DeadlineExceededError: "deadline",
    NumericsError: "numerics",
    EngineStoppedError: "stopped",
    EngineFailedError: "failed",
}


class EngineMetrics(EngineObserver):
    """Counts and times events; called on the engine's threads, so each method is a few adds.

    Refusals are not counted here but where calls end: the services refuse most of them before
    the engine sees them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"dragoman_{name}", text, buckets=buckets, registry=registry)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"dragoman_{name}", text, labels, registry=registry)

        self._queue = histogram(
            "queue_seconds", "From submission to the encoder.", TIME_TO_FIRST_TOKEN_BUCKETS
        )
        self._first_token = histogram(
            "time_to_first_token_seconds",
            "From submission, queue included.",
            TIME_TO_FIRST_TOKEN_BUCKETS,
        )
        self._per_token = histogram(
            "time_per_output_token_seconds",
            "From the first token to the last, for each after the first.",
            TIME_PER_TOKEN_BUCKETS,
        )
        self._rows = histogram("batch_rows", "Rows decoded in one step.", BATCH_BUCKETS)
        self._step = histogram("step_seconds", "Time of one decoding step.", SHORT_BUCKETS)
        self._encoder = histogram("encoder_seconds", "Time of one encoder batch.", SHORT_BUCKETS)
        self._encoded_sentences = counter("encoded_sentences", "Sources encoded.")
        self._source_tokens = counter("source_tokens", "Tokens read by the encoder.")
        self._target_tokens = counter("target_tokens", "Tokens chosen, forced prefixes left out.")
        self._requests = counter("requests", "Lines and next-token requests accepted.")
        self._finished = counter("finished", "Requests answered, by reason.", ("reason",))
        self._failed = counter("failed", "Requests accepted but not answered.", ("reason",))
        for reason in FINISHES:
            self._finished.labels(reason)
        for reason in FAILURES.values():
            self._failed.labels(reason)

    def request_queued(self) -> None:
        """See `EngineObserver`."""
        self._requests.inc()

    def request_admitted(self, queue_seconds: float) -> None:
        """See `EngineObserver`."""
        self._queue.observe(queue_seconds)

    def first_token(self, seconds: float) -> None:
        """See `EngineObserver`."""
        self._first_token.observe(seconds)

    def request_finished(
        self, reason: FinishReason | None, output_tokens: int, _source_tokens: int, seconds: float
    ) -> None:
        """See `EngineObserver`."""
        self._finished.labels("next_token" if reason is None else reason.name.lower()).inc()
        if reason is None:
            return
        self._target_tokens.inc(output_tokens)
        if output_tokens > 1:
            self._per_token.observe(seconds / (output_tokens - 1))

    def request_failed(self, error: EngineError) -> None:
        """See `EngineObserver`."""
        self._failed.labels(FAILURES.get(type(error), "failed")).inc()

    def step(self, rows: int, seconds: float) -> None:
        """See `EngineObserver`."""
        self._rows.observe(rows)
        self._step.observe(seconds)

    def encoded(self, sentences: int, tokens: int, seconds: float) -> None:
        """See `EngineObserver`."""
        self._encoder.observe(seconds)
        self._encoded_sentences.inc(sentences)
        self._source_tokens.inc(tokens)


class EngineLevels(Collector):
    """Reads the engine's levels when a scrape comes, which costs the engine nothing between.

    Args:
        statistics: gives the engine's statistics; None while there is no engine.
    """

    def __init__(self, statistics: Callable[[], EngineStatistics | None]) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        """See `prometheus_client.registry.Collector`."""
        now = self._statistics()
        levels = (
            ("queued_requests", "Requests that wait for a row.", now.queued if now else 0),
            ("running_rows", "Rows in the running batch.", now.running_rows if now else 0),
            ("slots", "Cache slots there are.", now.slots_total if now else 0),
        )
        for name, text, level in levels:
            yield GaugeMetricFamily(f"dragoman_{name}", text, value=level)
        totals = (
            ("slots_created", "Cache slots handed out.", now.slots_created if now else 0),
            ("slots_released", "Cache slots given back.", now.slots_released if now else 0),
            ("steps", "Decoding steps.", now.steps if now else 0),
        )
        for name, text, total in totals:
            yield CounterMetricFamily(f"dragoman_{name}", text, value=total)
