"""All measures, one after the other, as one table and one JSON file.

    python -m benchmarks [--only NAME]... [--rounds N] [--quick] [--json FILE]

Each measure is a process of its own with a time limit; one that breaks or takes too long is named
below the table, and the others go on.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.options import add_flags, write
from benchmarks.rows import Row, markdown

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "bench.json"


@dataclass(frozen=True, slots=True)
class Part:
    """A module of measures.

    Attributes:
        name: of the module, and for `--only`.
        seconds: after which it is given up.
    """

    name: str
    seconds: float


PARTS = (
    Part("prepare", 300.0),
    Part("engines", 480.0),
    Part("python_share", 90.0),
    Part("gaps", 90.0),
    Part("serving", 120.0),
    Part("memory", 240.0),
    Part("open_loop", 900.0),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rows of a part, or why there are none."""

    rows: list[dict[str, Any]]
    fault: str | None
    seconds: float


def main() -> int:
    """Measure; give 1 where a part has no figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=_first_line())
    names = [part.name for part in PARTS]
    parser.add_argument("--only", action="append", choices=names, help="this part; repeatable")
    add_flags(parser)
    parser.set_defaults(json=RESULTS)
    arguments = parser.parse_args()
    # As Ctrl-C does: a part and its servers would go on by themselves.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    described = machine.describe()
    outcomes: dict[str, Outcome] = {}
    for part in PARTS:
        if not arguments.only or part.name in arguments.only:
            outcomes[part.name] = run_part(part, flags(arguments))
            print(f"{part.name}: {outcomes[part.name].seconds:.0f} s", file=sys.stderr, flush=True)
    show(described, outcomes)
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    write(arguments.json, {**described, "seconds": seconds(outcomes)}, rows)
    return int(any(outcome.fault for outcome in outcomes.values()))


def flags(arguments: argparse.Namespace) -> list[str]:
    """Give the flags that every part gets."""
    rounds = [] if arguments.rounds is None else ["--rounds", str(arguments.rounds)]
    return [*rounds, *(["--quick"] if arguments.quick else [])]


def run_part(part: Part, flags: list[str]) -> Outcome:
    """Run a part in a process group of its own, so that its servers end with it."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.{part.name}", *flags, "--json", str(path)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        fault = _wait(process, part.seconds)
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    return Outcome(rows, fault, time.monotonic() - begun)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> str | None:
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return f"took longer than {seconds:.0f} s"
    finally:
        _end(process)
    return f"ended with code {code}" if code else None


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def show(described: dict[str, Any], outcomes: dict[str, Outcome]) -> None:
    """Print the table, what is missing from it, and the machine."""
    rows = [row_from(values) for outcome in outcomes.values() for values in outcome.rows]
    print(markdown(rows))
    for name, outcome in outcomes.items():
        if outcome.fault:
            print(f"\n{name}: {outcome.fault}")
    print(f"\n{machine.line(described)}")


def row_from(values: dict[str, Any]) -> Row:
    """Read what `Row.to_dict` gave."""
    return Row(**{name: value for name, value in values.items() if name != "verdict"})


def seconds(outcomes: dict[str, Outcome]) -> dict[str, float]:
    """Give how long each part took."""
    return {name: round(outcome.seconds, 1) for name, outcome in outcomes.items()}


def _first_line() -> str:
    return (__doc__ or "").partition("\n")[0]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
