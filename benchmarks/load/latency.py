"""Percentiles, and when a trial has failed for good."""

from __future__ import annotations

import math
from collections.abc import Iterable


def percentile(values: Iterable[float], share: float) -> float:
    """Give the smallest value that at least `share` of all do not exceed (nearest rank).

    Args:
        values: at least one.
        share: above 0, at most 1.

    Raises:
        ValueError: There are no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("values: there are none; at least 1 is needed")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def most_late(requests: int, share: float) -> int:
    """Give how many of so many requests may be late.

    At least one may, so that a slow server isn't judged more strictly because fewer requests fit
    into its trial.
    """
    return max(1, requests - math.ceil(share * requests))
