"""What every measure has in common: its flags, its table, its JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.rows import Row, markdown


@dataclass(frozen=True, slots=True)
class Options:
    """How thoroughly to measure.

    Attributes:
        rounds: interleaved rounds; None: as many as the measure thinks right.
        quick: whether it only has to run through, on little input.
    """

    rounds: int | None = None
    quick: bool = False

    def pick_rounds(self, normal: int) -> int:
        """Give the rounds to do where `normal` are right."""
        return self.rounds or (1 if self.quick else normal)


Measure = Callable[[Options], list[Row]]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `read` reads, and `--json`."""
    parser.add_argument("--rounds", type=int, help="interleaved rounds of each measure")
    parser.add_argument("--quick", action="store_true", help="little input: does it run at all?")
    parser.add_argument("--json", type=Path, help="write rows, details and the machine here")


def read(arguments: argparse.Namespace) -> Options:
    """Give the options that the flags name."""
    return Options(arguments.rounds, arguments.quick)


def command(measure: Measure, description: str | None) -> None:
    """Be the command of one measure."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    add_flags(parser)
    arguments = parser.parse_args()
    described = machine.describe()
    rows = measure(read(arguments))
    print(markdown(rows))
    if arguments.json is not None:
        write(arguments.json, described, [row.to_dict() for row in rows])


def write(path: Path, described: dict[str, object], rows: Sequence[dict[str, object]]) -> None:
    """Write machine and rows as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": described, "rows": rows}, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
