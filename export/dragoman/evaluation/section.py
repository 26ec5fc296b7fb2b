"""The smallest document that a terminal and a Markdown file can both show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in columns; the first column is a label."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A title, lines of text, a table.

    Attributes:
        title: what it is about.
        lines: paragraphs, or points of a list.
        table: shown after the lines.
        is_list: the lines are points of a list.
    """

    title: str
    lines: tuple[str, ...] = ()
    table: Table | None = None
    is_list: bool = False
