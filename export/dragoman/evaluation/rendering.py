"""A report on the terminal, and as a model card in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from dragoman.evaluation.report import Report
from dragoman.evaluation.section import Section, Table

_SIGNS: Final = re.compile(r"[\\|*_<$]")


def show(report: Report, console: Console) -> None:
    """Print everything but the notes on the method."""
    console.print(Text(report.title, style="bold"))
    console.print(Text(report.summary))
    for section in report.sections:
        console.print()
        console.print(Text(section.title, style="bold"))
        for line in section.lines:
            console.print(Text(line.replace("`", "")))
        if section.table is not None:
            console.print(_rich(section.table))


def card(report: Report) -> str:
    """A model card: the same figures, with the notes."""
    lines = [f"# {report.title}", "", report.summary]
    for section in (*report.sections, *report.notes):
        lines += ["", f"## {section.title}", "", *_markdown(section)]
    return "\n".join(lines) + "\n"


def _rich(table: Table) -> RichTable:
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(table.header):
        shown.add_column(Text(name), justify=_justify(table, place), overflow="fold")
    for row in table.rows:
        shown.add_row(*map(Text, row))
    return shown


def _markdown(section: Section) -> Iterator[str]:
    for place, line in enumerate(section.lines):
        if place and not section.is_list:
            yield ""
        yield f"- {_escaped(line)}" if section.is_list else _escaped(line)
    if section.table is None:
        return
    if section.lines:
        yield ""
    table = section.table
    yield _row(map(_escaped, table.header))
    columns = range(len(table.header))
    yield _row("---:" if _justify(table, place) == "right" else "---" for place in columns)
    yield from (_row(map(_escaped, row)) for row in table.rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Plain text for Markdown; what stands between backticks stays as it is."""
    spans = " ".join(text.split()).split("`")
    spans[::2] = [_SIGNS.sub(r"\\\g<0>", span) for span in spans[::2]]
    return "`".join(spans)


def _justify(table: Table, place: int) -> Literal["left", "right"]:
    """Columns of figures end flush: all that have a digit or a sign first in every cell."""
    cells = [row[place] for row in table.rows if row[place]]
    is_figures = place > 0 and all(cell[0] in "-+0123456789" for cell in cells)
    return "right" if is_figures else "left"
