"""The lines of the table: a figure, its bar, its aim, and how they are written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

_HEADER = (
    "measure",
    "model",
    "against",
    "figure",
    "bar",
    "aim",
    "verdict",
    "by wall clock",
    "by processor time",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line.

    Attributes:
        measure: what is measured.
        model: "a", the default bundle; "b", the paper's `base` shape with random weights; or "".
        against: the peer, or what the figure is a share of.
        figure: what the bar judges; None where it could not be measured.
        unit: "x" for a ratio, "%" for a share, else the unit's name.
        bar: what the figure must reach.
        aim: what it should reach.
        better: which direction is better.
        wall: the same figure by wall clock, where both were taken.
        cpu: the same figure by processor time, where both were taken.
        note: what must be known to read it, or why there is no figure.
        details: absolute numbers, for the JSON.
    """

    measure: str
    model: str
    against: str
    figure: float | None
    unit: str = "x"
    bar: float | None = None
    aim: float | None = None
    better: Literal["lower", "higher"] = "lower"
    wall: float | None = None
    cpu: float | None = None
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether the bar is met, and if not, by how much of it it is missed."""
        if self.figure is None:
            return "not measured"
        if self.bar is None:
            return ""
        if self._reaches(self.bar):
            return "aim met" if self.aim is not None and self._reaches(self.aim) else "met"
        return f"missed by {abs(self.figure / self.bar - 1):.0%}"

    def _reaches(self, level: float) -> bool:
        assert self.figure is not None
        return self.figure <= level if self.better == "lower" else self.figure >= level

    def cells(self, note: int | None) -> list[str]:
        """Give the cells; `note` is the number of the row's footnote."""
        sign = "<=" if self.better == "lower" else ">="
        mark = "" if note is None else f" [{note}]"
        return [
            self.measure + mark,
            self.model,
            self.against,
            shown(self.figure, self.unit),
            "" if self.bar is None else f"{sign} {shown(self.bar, self.unit)}",
            "" if self.aim is None else shown(self.aim, self.unit),
            self.verdict,
            shown(self.wall, self.unit),
            shown(self.cpu, self.unit),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the verdict among them."""
        return {**asdict(self), "verdict": self.verdict}


def shown(value: float | None, unit: str) -> str:
    """Write a value with its unit; None is nothing."""
    if value is None:
        return ""
    if unit == "x":
        return f"{value:.2f} x"
    return f"{value:.1f} {unit}"


def markdown(rows: Sequence[Row]) -> str:
    """Write rows as one Markdown table with its notes below; equal notes share a number."""
    notes: dict[str, int] = {}
    lines = [_line(_HEADER), "|" + "---|" * len(_HEADER)]
    for row in rows:
        number = notes.setdefault(row.note, len(notes) + 1) if row.note else None
        lines.append(_line(row.cells(number)))
    written = [f"[{number}] {note}" for note, number in notes.items()]
    return "\n".join([*lines, *([""] if written else []), *written])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
