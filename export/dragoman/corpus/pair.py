"""A text and its translation, and the books that are kept about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

DOMAINS = {
    "descriptions": "prose",
    "debconf": "prose",
    "gettext": "ui",
    "games": "game",
    "man": "manual",
    "help": "manual",
}
"""Domain of each origin, in the order of tables."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A source text and its translation.

    Attributes:
        source: English.
        target: The other language.
        origin: A key of `DOMAINS`.
        document: What is split as a whole: a source package, a manual page, a book.
        packages: The binary packages that the texts come from, at most two.
    """

    source: str
    target: str
    origin: str
    document: str
    packages: tuple[str, ...]

    @property
    def domain(self) -> str:
        """The domain that the pair is evaluated in."""
        return DOMAINS[self.origin]


class Ledger:
    """Counts by stage and origin; stages keep the order in which they were first entered."""

    def __init__(self) -> None:
        """Open an empty ledger."""
        self._counts: dict[str, Counter[str]] = {}

    def enter(self, stage: str, origin: str, count: int = 1) -> None:
        """Add to a stage's count for one origin."""
        self._counts.setdefault(stage, Counter())[origin] += count

    def counts(self) -> dict[str, dict[str, int]]:
        """Return {stage: {origin: count}}, origins in the order of `DOMAINS`."""
        return {
            stage: {origin: counter[origin] for origin in DOMAINS if counter[origin]}
            for stage, counter in self._counts.items()
        }

    def table(self) -> str:
        """Return the counts as a table: a stage a line, an origin a column, the sum at the end."""
        header = ["", *DOMAINS, "all"]
        rows = [
            [stage, *(f"{counter[origin]:,}" for origin in DOMAINS), f"{counter.total():,}"]
            for stage, counter in self._counts.items()
        ]
        return format_table([header, *rows])


def format_table(rows: list[list[str]]) -> str:
    """Lay out rows in columns: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
