"""``dragoman plot-training``: quality against tokens seen, of one run or several."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import matplotlib as mpl
import typer
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dragoman.evaluation.curve import Curve, Point, read_curve
from dragoman.evaluation.errors import EvaluationError

SUFFIXES: Final = (".svg", ".png", ".pdf")

_PANELS: Final = (
    ("bleu", "BLEU of the dev set"),
    ("chrf", "chrF of the dev set"),
    ("loss", "loss of the dev set, nats per token"),
)
_STYLE: Final[dict[Any, object]] = {
    "svg.fonttype": "none",
    # The same curves give the same file.
    "svg.hashsalt": "dragoman",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
}


class Against(StrEnum):
    """What a curve is drawn against."""

    TOKENS = "tokens"
    HOURS = "hours"


def plot_training(
    runs: Annotated[
        list[str],
        typer.Argument(help="Directories of runs or their logs; NAME=PATH gives one a name."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write: .svg, .png or .pdf.")
    ],
    against: Annotated[
        Against, typer.Option(help="Draw against tokens seen or hours of training.")
    ] = Against.TOKENS,
) -> None:
    """Draw BLEU, chrF and loss of the dev set while a model was trained."""
    try:
        if output.suffix not in SUFFIXES:
            raise EvaluationError(f"{output}: must end in {', '.join(SUFFIXES)}")
        curves = [read_curve(run) for run in runs]
        for curve in curves:
            if curve.unreadable:
                typer.echo(
                    f"{curve.label}: unreadable lines left out: {curve.unreadable}", err=True
                )
        draw(curves, output, against)
    except (EvaluationError, OSError) as error:
        typer.echo(f"dragoman plot-training: {error}", err=True)
        raise typer.Exit(1) from error


def draw(curves: list[Curve], output: Path, against: Against = Against.TOKENS) -> None:
    """Write the figure of some curves; the suffix of the file says in which form.

    Raises:
        OSError: the file cannot be written.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(11, 3.4), layout="constrained")
        panels = figure.subplots(1, len(_PANELS))
        for panel, (quality, title) in zip(panels, _PANELS, strict=True):
            _panel(panel, curves, quality, against)
            panel.set_title(title)
        if len(curves) > 1:
            figure.legend(
                *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4
            )
        metadata = {"Date": None} if output.suffix == ".svg" else None
        figure.savefig(output, dpi=150, metadata=metadata)


def _panel(panel: Axes, curves: list[Curve], quality: str, against: Against) -> None:
    for curve in curves:
        points = [point for point in curve.points if getattr(point, quality) is not None]
        places = [_place(point, against) for point in points]
        panel.plot(places, [getattr(p, quality) for p in points], marker=".", label=curve.label)
    of_tokens = against is Against.TOKENS
    panel.set_xlabel("target tokens seen, millions" if of_tokens else "hours of training")


def _place(point: Point, against: Against) -> float:
    return point.target_tokens / 1e6 if against is Against.TOKENS else point.seconds / 3600
