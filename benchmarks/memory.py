"""Resident memory: of an engine that is loaded and warm, and after very many shapes.

    python -m benchmarks.memory [--rounds N] [--quick] [--json FILE]

Each figure comes from processes of their own; with several rounds it is their median. From that of
a loaded engine, which has translated one text greedily and with a beam, that of a process is taken
which has loaded the same code, ONNX Runtime among it, and run a graph of one node.

Shapes are batches of random size, source and target lengths and beams, with kept sources and
prefixes up to their default limits. A row's memory is as much as the longest text that it ever
held, so it takes a while until it has seen its worst: growth counts in the second half.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.models import ModelName, bundle
from benchmarks.options import Options, command
from benchmarks.resident import SAMPLES
from benchmarks.rows import Row

SHAPES = 5000
_ROOT = Path(__file__).parent.parent
_MEBI = 2**20


def measure(options: Options) -> list[Row]:
    """Give the rows of both models."""
    rounds = options.pick_rounds(3)
    models: tuple[ModelName, ...] = ("a",) if options.quick else ("b", "a")
    rows = [loaded_row(model, rounds) for model in models]
    return [*rows, shapes_row("a", SAMPLES if options.quick else SHAPES)]


def loaded_row(model: ModelName, rounds: int) -> Row:
    """Compare a loaded engine's memory with the bytes of its bundle."""
    directory = bundle(model)
    files = sum(path.stat().st_size for path in directory.iterdir())
    empty = statistics.median(resident("empty")[0] for _ in range(rounds))
    loaded = statistics.median(resident("loaded", directory)[0] for _ in range(rounds))
    return Row(
        measure="resident memory of a loaded engine, less an empty ONNX Runtime process",
        model=model,
        against="the bundle's bytes",
        figure=(loaded - empty) / files,
        bar=1.5,
        aim=1.2,
        details={
            "loaded_mib": loaded / _MEBI,
            "empty_mib": empty / _MEBI,
            "bundle_mib": files / _MEBI,
        },
    )


def shapes_row(model: ModelName, count: int) -> Row:
    """Compare the memory after many shapes with that after half of them."""
    found = resident("shapes", bundle(model), count)
    half = len(found) // 2 - 1
    return Row(
        measure=f"resident memory after {count:,} random shapes",
        model=model,
        against=f"after {count // 2:,}",
        figure=max(found[half:]) / found[half],
        bar=1.05,
        details={"mib": [size / _MEBI for size in found]},
    )


def resident(*arguments: object) -> list[int]:
    """Take a figure in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.resident", *map(str, arguments)]
    done = subprocess.run(words, cwd=_ROOT, stdout=subprocess.PIPE, check=True)
    return list(map(int, json.loads(done.stdout)))


if __name__ == "__main__":
    command(measure, __doc__)
