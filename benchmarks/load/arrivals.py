"""When requests come, and with which texts: sentences and paragraphs of the dev set."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SHORTEST, LONGEST = 5, 120
"""Source tokens of a text, end-of-sentence included."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request to come.

    Attributes:
        seconds: after the beginning.
        text: its place among the texts.
    """

    seconds: float
    text: int


def poisson(rate: float, seconds: float, texts: int, seed: int) -> list[Arrival]:
    """Draw arrivals at `rate` a second, independent of each other and of all answers.

    The same seed draws the same texts in the same order, and the same gaps but for the rate: what
    two servers get at two rates differs in pace alone.

    Args:
        rate: above 0.
        seconds: how long they come.
        texts: how many texts there are; all are drawn before one comes again.
        seed: of the draw.
    """
    gaps, order = random.Random(seed), random.Random(seed + 1)
    arrivals: list[Arrival] = []
    waiting: list[int] = []
    at = gaps.expovariate(1.0) / rate
    while at < seconds:
        if not waiting:
            waiting = order.sample(range(texts), texts)
        arrivals.append(Arrival(at, waiting.pop()))
        at += gaps.expovariate(1.0) / rate
    return arrivals


def mixed_texts(
    rows: Sequence[str], count: Callable[[str], int], number: int, seed: int = 1
) -> list[str]:
    """Make texts of 5 to 120 tokens, as many sentences as paragraphs.

    A sentence is a row; a paragraph joins neighbouring rows until a length is reached that was
    drawn evenly between a sentence's and the longest.

    Args:
        rows: sentences in their documents' order.
        count: gives the tokens of a text.
        number: of texts.
        seed: of the draw.
    """
    generator = random.Random(seed)
    texts: list[str] = []
    while len(texts) < number:
        start = generator.randrange(len(rows))
        wanted = generator.randint(SHORTEST, LONGEST) if len(texts) % 2 else SHORTEST
        text = _paragraph(rows, start, wanted, count)
        if text is not None and text not in texts:
            texts.append(text)
    return texts


def _paragraph(
    rows: Sequence[str], start: int, wanted: int, count: Callable[[str], int]
) -> str | None:
    """Join rows from `start` on; None where that is too long, or there are too few."""
    text = ""
    for row in rows[start:]:
        text = f"{text} {row}".strip()
        tokens = count(text)
        if tokens > LONGEST:
            return None
        if tokens >= wanted:
            return text
    return None
