"""Our tallies against prometheus-client's own counters and histograms."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from dragoman.server.tallies import Distribution, Tallies

BOUNDS = (0.001, 0.5, 1.0, 10.0)
VALUES = st.floats(min_value=0, max_value=20) | st.sampled_from(BOUNDS)


def text(registry: CollectorRegistry) -> str:
    return generate_latest(registry).decode()


@given(st.lists(VALUES, max_size=20), st.lists(st.integers(0, 5), max_size=5))
def test_a_scrape_reads_the_same(values: list[float], amounts: list[int]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    tallies = Tallies(ours)
    counter = tallies.counter("apples", "Apples.", ("colour",))
    histogram = tallies.histogram("weight", "Weight.", BOUNDS, ("colour",))
    their_counter = Counter("apples", "Apples.", ("colour",), registry=theirs)
    their_histogram = Histogram("weight", "Weight.", ("colour",), buckets=BOUNDS, registry=theirs)
    for colour in ("red", "green"):
        for amount in amounts:
            counter.labels(colour).inc(amount)
            their_counter.labels(colour).inc(amount)
        for value in values:
            histogram.labels(colour).observe(value)
            their_histogram.labels(colour).observe(value)
        counter.labels(colour)
        their_counter.labels(colour)
        histogram.labels(colour)
        their_histogram.labels(colour)
    assert text(ours) == text(theirs)


def test_series_without_labels() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    tallies = Tallies(ours)
    tallies.counter("apples", "Apples.").labels().inc(3)
    tallies.histogram("weight", "Weight.", BOUNDS).labels().observe(0.5)
    Counter("apples", "Apples.", registry=theirs).inc(3)
    Histogram("weight", "Weight.", buckets=BOUNDS, registry=theirs).observe(0.5)
    assert text(ours) == text(theirs)


def test_a_series_is_made_once() -> None:
    family = Tallies(CollectorRegistry()).counter("apples", "Apples.", ("colour",))
    assert family.labels("red") is family.labels("red")
    assert family.labels("red") is not family.labels("green")


def test_a_bound_belongs_to_its_bucket() -> None:
    distribution = Distribution((1, 2))
    for value in (1, 1.5, 2, 2.5):
        distribution.observe(value)
    assert distribution.counts == [1, 2, 1]
