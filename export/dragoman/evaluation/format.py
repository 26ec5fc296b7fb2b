"""How figures are written, on the terminal and in the card alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dragoman.evaluation.rates import Rate

NOTHING: Final = "-"
"""Stands where there is nothing to tell a share of."""


def count(number: int) -> str:
    """A whole number, thousands apart."""
    return f"{number:,}"


def points(score: float) -> str:
    """A score of 0 to 100."""
    return f"{score:.1f}"


def signed(difference: float) -> str:
    """A difference of scores, finer than the scores, never "-0.00"."""
    return f"{round(difference, 2) + 0.0:+.2f}"


def ratio(value: float) -> str:
    """A ratio near 1."""
    return f"{value:.3f}"


def percent(rate: Rate) -> str:
    """A share in percent."""
    return NOTHING if rate.value is None else f"{100 * rate.value:.2f} %"


def survived(rate: Rate) -> str:
    """A share in percent, and of how many."""
    return NOTHING if rate.value is None else f"{100 * rate.value:.1f} % of {count(rate.total)}"


def quantity(value: float) -> str:
    """A measured figure of unknown size."""
    return count(int(value)) if float(value).is_integer() else f"{value:.4g}"


def parts(texts: Iterable[str]) -> str:
    """Things in a row."""
    return ", ".join(texts)
