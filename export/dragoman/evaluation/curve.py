"""What the log of a training run tells of quality."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dragoman.evaluation.errors import EvaluationError

LOG: Final = "log.jsonl"
QUALITIES: Final = ("bleu", "chrf", "loss")


@dataclass(frozen=True, slots=True)
class Point:
    """One evaluation on the dev set while training.

    Attributes:
        step: updates done.
        target_tokens: target tokens seen.
        seconds: time of training.
        bleu, chrf: 0 to 100; None where not measured.
        loss: nats per token; None where not measured.
    """

    step: int
    target_tokens: int
    seconds: float
    bleu: float | None
    chrf: float | None
    loss: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of a run in the order of training.

    Attributes:
        label: the run's name.
        points: at least one.
        unreadable: lines of the log that are no JSON, as a crash leaves them.
    """

    label: str
    points: tuple[Point, ...]
    unreadable: int


def read_curve(run: str) -> Curve:
    """Read a run: its directory or its log, under a name of one's own as ``name=path``.

    Raises:
        EvaluationError: the log tells of no dev set.
        OSError: it cannot be read.
    """
    label, path = _named(run)
    log = path / LOG if path.is_dir() else path
    points: list[Point] = []
    unreadable = 0
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                point = _point(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                unreadable += 1
                continue
            if point is not None:
                # A run that was resumed from an earlier checkpoint goes over its steps again.
                points = [earlier for earlier in points if earlier.step < point.step]
                points.append(point)
    if not points:
        raise EvaluationError(f"{log}: no figures of a dev set in it")
    return Curve(label, tuple(points), unreadable)


def _named(run: str) -> tuple[str, Path]:
    label, separator, rest = run.partition("=")
    if separator and not Path(run).exists():
        return label, Path(rest)
    path = Path(run)
    folder = path.parent if path.name == LOG else path
    return folder.resolve().name, path


def _point(row: dict[str, Any]) -> Point | None:
    figures = row.get("dev")
    if figures is None:
        return None
    qualities = (_number(figures.get(name)) for name in QUALITIES)
    return Point(int(row["step"]), int(row["target_tokens"]), float(row["seconds"]), *qualities)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
