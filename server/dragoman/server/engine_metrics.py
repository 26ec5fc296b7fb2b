"""What the engine does, as Prometheus series: an observer for events, a collector for levels."""

import threading
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter
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
from dragoman.server.tallies import Distribution, Tallies, Tally

FINISHES: dict[FinishReason | None, str] = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.DEADLINE: "deadline",
    None: "next_token",
}
SCORE = "score"
FAILURES: dict[type[EngineError], str] = {
    RequestCancelledError: "cancelled",
    DeadlineExceededError: "deadline",
    NumericsError: "numerics",
    EngineStoppedError: "stopped",
    EngineFailedError: "failed",
}


class EngineSeries:
    """The series of the engine's events, all there from the start, at zero."""

    def __init__(self, registry: CollectorRegistry) -> None:
        tallies = Tallies(registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Distribution:
            return tallies.histogram(f"dragoman_{name}", text, buckets).labels()

        def counter(name: str, text: str) -> Tally:
            return tallies.counter(f"dragoman_{name}", text).labels()

        self.queue = histogram(
            "queue_seconds", "From submission to the encoder.", TIME_TO_FIRST_TOKEN_BUCKETS
        )
        self.first_token = histogram(
            "time_to_first_token_seconds",
            "From submission, queue included.",
            TIME_TO_FIRST_TOKEN_BUCKETS,
        )
        self.per_token = histogram(
            "time_per_output_token_seconds",
            "From the first token to the last, for each after the first.",
            TIME_PER_TOKEN_BUCKETS,
        )
        self.rows = histogram("batch_rows", "Rows decoded in one step of a worker.", BATCH_BUCKETS)
        self.step = histogram("step_seconds", "Time of one decoding step.", SHORT_BUCKETS)
        self.encoder = histogram("encoder_seconds", "Time of one encoder batch.", SHORT_BUCKETS)
        self.encoded = counter("encoded_sentences", "Sources encoded.")
        self.source_tokens = counter("source_tokens", "Tokens read by the encoder.")
        self.target_tokens = counter("target_tokens", "Tokens chosen, forced prefixes left out.")
        self.source_hits = counter(
            "source_cache_hits", "Sources that were encoded before, or together with an equal one."
        )
        self.source_misses = counter("source_cache_misses", "Sources that had to be encoded.")
        self.prefix_reused = counter(
            "prefix_tokens_reused",
            "Tokens of forced prefixes and given translations taken from earlier requests.",
        )
        self.prefix_computed = counter(
            "prefix_tokens_computed",
            "Tokens of forced prefixes and given translations that took a step each.",
        )
        self.requests = counter("requests", "Lines, next-token and score requests accepted.")
        finished = tallies.counter(
            "dragoman_finished", "Requests answered, by reason.", ("reason",)
        )
        self.finished = {reason: finished.labels(name) for reason, name in FINISHES.items()}
        self.scored = finished.labels(SCORE)
        self.scored_tokens = counter("scored_tokens", "Tokens of given translations scored.")
        failed = Counter(  # by any of the threads, and seldom
            "dragoman_failed", "Requests accepted but not answered.", ("reason",), registry=registry
        )
        self.failed = {kind: failed.labels(name) for kind, name in FAILURES.items()}


class EngineMetrics(EngineObserver):
    """Counts and times events; called on the engine's threads, so each method is a few adds.

    The decoder's workers take turns by a lock, since a tally must have one writer at a time.

    Nothing is seen of it before `begin`, so that warming up is not taken for work. Refusals are
    not counted here but where calls end: the services refuse most before the engine sees them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._shown = EngineSeries(registry)
        self._series = EngineSeries(CollectorRegistry())
        self._decoding = threading.Lock()

    def begin(self) -> None:
        """Show what happens from now on."""
        self._series = self._shown

    def request_queued(self) -> None:
        """See `EngineObserver`."""
        self._series.requests.inc()

    def request_admitted(self, queue_seconds: float) -> None:
        """See `EngineObserver`."""
        with self._decoding:
            self._series.queue.observe(queue_seconds)

    def first_token(self, seconds: float) -> None:
        """See `EngineObserver`."""
        with self._decoding:
            self._series.first_token.observe(seconds)

    def request_finished(
        self, reason: FinishReason | None, output_tokens: int, _source_tokens: int, seconds: float
    ) -> None:
        """See `EngineObserver`."""
        series = self._series
        with self._decoding:
            series.finished[reason].inc()
            if reason is not None:
                series.target_tokens.inc(output_tokens)
                if output_tokens > 1:
                    series.per_token.observe(seconds / (output_tokens - 1))

    def request_scored(self, _targets: int, tokens: int, _seconds: float) -> None:
        """See `EngineObserver`."""
        with self._decoding:
            self._series.scored.inc()
            self._series.scored_tokens.inc(tokens)

    def request_failed(self, error: EngineError) -> None:
        """See `EngineObserver`."""
        self._series.failed.get(type(error), self._series.failed[EngineFailedError]).inc()

    def step(self, rows: int, seconds: float) -> None:
        """See `EngineObserver`."""
        with self._decoding:
            self._series.rows.observe(rows)
            self._series.step.observe(seconds)

    def encoded(self, sentences: int, tokens: int, seconds: float) -> None:
        """See `EngineObserver`."""
        series = self._series
        series.encoder.observe(seconds)
        series.encoded.inc(sentences)
        series.source_tokens.inc(tokens)

    def sources_found(self, hits: int, misses: int) -> None:
        """See `EngineObserver`."""
        self._series.source_hits.inc(hits)
        self._series.source_misses.inc(misses)

    def prefix_reused(self, reused: int, computed: int) -> None:
        """See `EngineObserver`."""
        with self._decoding:
            self._series.prefix_reused.inc(reused)
            self._series.prefix_computed.inc(computed)


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
            ("running_rows", "Rows in the running batches.", now.running_rows if now else 0),
            ("slots", "Cache slots there are.", now.slots_total if now else 0),
            (
                "source_cache_bytes",
                "Bytes of encoded sources kept.",
                now.source_cache_bytes if now else 0,
            ),
            (
                "prefix_cache_bytes",
                "Bytes of decoded prefixes kept.",
                now.prefix_cache_bytes if now else 0,
            ),
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
