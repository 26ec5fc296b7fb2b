"""The pure parts of the open loop: arrivals, texts, percentiles, the search for a rate."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from benchmarks.load.arrivals import LONGEST, SHORTEST, mixed_texts, poisson
from benchmarks.load.latency import most_late, percentile
from benchmarks.load.search import RateSearch


def test_arrivals_come_in_order_at_the_rate() -> None:
    arrivals = poisson(rate=50.0, seconds=100.0, texts=7, seed=3)
    seconds = [arrival.seconds for arrival in arrivals]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0.0
    assert seconds[-1] < 100.0
    # The number's standard deviation is the root of 5000.
    assert len(arrivals) == pytest.approx(5000, abs=5 * math.sqrt(5000))
    gaps = [after - before for before, after in pairwise(seconds)]
    # Exponential gaps: as large a standard deviation as mean.
    mean = sum(gaps) / len(gaps)
    deviation = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    assert deviation == pytest.approx(mean, rel=0.1)


def test_all_texts_come_before_one_comes_again() -> None:
    texts = [arrival.text for arrival in poisson(rate=10.0, seconds=10.0, texts=20, seed=1)]
    assert len(texts) > 40
    assert sorted(texts[:20]) == list(range(20))
    assert sorted(texts[20:40]) == list(range(20))


def test_the_rate_changes_the_pace_alone() -> None:
    slow = poisson(rate=5.0, seconds=20.0, texts=9, seed=4)
    fast = poisson(rate=10.0, seconds=10.0, texts=9, seed=4)
    assert [arrival.text for arrival in slow] == [arrival.text for arrival in fast]
    assert [a.seconds for a in slow] == pytest.approx([2 * a.seconds for a in fast])


def test_texts_are_sentences_and_paragraphs_within_bounds() -> None:
    rows = [" ".join(f"w{number}" for number in range(length % 17 + 1)) for length in range(400)]
    rows = [f"{row} r{place}" for place, row in enumerate(rows)]

    def count(text: str) -> int:
        return len(text.split()) + 1

    texts = mixed_texts(rows, count, 60)
    lengths = [count(text) for text in texts]
    assert len(set(texts)) == 60
    assert min(lengths) >= SHORTEST
    assert max(lengths) <= LONGEST
    assert max(lengths) > 80
    assert "\n" not in "".join(texts)
    assert texts == mixed_texts(rows, count, 60)


def test_percentiles_are_values_of_nearest_rank() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert percentile(values, 0.99) == 99.0
    assert percentile(values, 0.5) == 50.0
    assert percentile(values, 1.0) == 100.0
    assert percentile([3.0], 0.99) == 3.0
    with pytest.raises(ValueError, match="at least 1"):
        percentile([], 0.5)


def test_one_request_in_a_hundred_may_be_late_and_always_one() -> None:
    assert most_late(1000, 0.99) == 10
    assert most_late(250, 0.99) == 2
    assert most_late(30, 0.99) == 1


@pytest.mark.parametrize("limit", [0.7, 9.0, 10.0, 13.1, 80.0])
def test_the_search_finds_the_rate_to_its_precision(limit: float) -> None:
    search = RateSearch(guess=10.0, most_trials=30)
    while (rate := search.next_rate) is not None:
        search.note(rate, borne=rate <= limit)
    assert search.best is not None
    assert search.best <= limit < search.best * search.precision


def test_the_search_ends_after_its_trials() -> None:
    search = RateSearch(guess=10.0, most_trials=3)
    for _ in range(3):
        rate = search.next_rate
        assert rate is not None
        search.note(rate, borne=False)
    assert search.next_rate is None
    assert search.best is None


def test_a_pass_above_a_failure_does_not_count() -> None:
    search = RateSearch(guess=10.0)
    search.note(10.0, borne=False)
    search.note(5.0, borne=True)
    search.note(12.0, borne=True)
    assert search.best == 5.0
