"""Counters and histograms for the hot path: a few plain additions, no locks.

Each is written by one thread at a time and read by the one that answers a scrape, which may see a
sum a moment older than its count. prometheus-client's own take a lock for each addition: several of
them at every decoding step cost 4 % of all tokens a second (measured at 8 concurrent calls).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString


class Tally:
    """A counter."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1) -> None:
        """Add `amount`, which is not negative."""
        self.value += amount


class Distribution:
    """A histogram.

    Args:
        bounds: upper bounds of the buckets, ascending; a last one without bound is added.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count `value`."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """Upper bound and cumulative count of each bucket, as the text format spells them."""
        names = [*map(floatToGoString, self.bounds), "+Inf"]
        return list(zip(names, map(float, accumulate(self.counts)), strict=True))


SeriesT = TypeVar("SeriesT", Tally, Distribution)


class Family(Generic[SeriesT]):
    """The series of one name, by their labels. All should be made at the start."""

    def __init__(self, make: Callable[[], SeriesT]) -> None:
        self._make: Callable[[], SeriesT] = make
        self.series: dict[tuple[str, ...], SeriesT] = {}

    def labels(self, *values: str) -> SeriesT:
        """The series with these values of the labels, in the labels' order."""
        if values not in self.series:
            self.series[values] = self._make()
        return self.series[values]


@dataclass(frozen=True, slots=True)
class _Name(Generic[SeriesT]):
    """What a scrape says of a family, and the family."""

    name: str
    text: str
    labels: tuple[str, ...]
    family: Family[SeriesT]


class Tallies(Collector):
    """Makes counters and histograms and shows them to `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counters: list[_Name[Tally]] = []
        self._histograms: list[_Name[Distribution]] = []
        registry.register(self)

    def counter(self, name: str, text: str, labels: tuple[str, ...] = ()) -> Family[Tally]:
        """A family of counters; its samples get the ending ``_total``."""
        family = Family(Tally)
        self._counters.append(_Name(name, text, labels, family))
        return family

    def histogram(
        self, name: str, text: str, bounds: Sequence[float], labels: tuple[str, ...] = ()
    ) -> Family[Distribution]:
        """A family of histograms with these upper bounds of buckets."""
        family = Family(lambda: Distribution(bounds))
        self._histograms.append(_Name(name, text, labels, family))
        return family

    def collect(self) -> Iterator[Metric]:
        """See `prometheus_client.registry.Collector`."""
        for entry in self._counters:
            counters = CounterMetricFamily(entry.name, entry.text, labels=entry.labels)
            for values, tally in entry.family.series.items():
                counters.add_metric(values, tally.value)
            yield counters
        for item in self._histograms:
            histograms = HistogramMetricFamily(item.name, item.text, labels=item.labels)
            for values, distribution in item.family.series.items():
                histograms.add_metric(values, distribution.buckets(), distribution.total)
            yield histograms
