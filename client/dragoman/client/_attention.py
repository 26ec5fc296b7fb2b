"""A picture of which tokens of the source each token of a translation looks at."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from dragoman.client._plugins import MissingExtraError
from dragoman.client.results import Hypothesis, Translation

SUFFIXES = (".png", ".svg", ".pdf")

_CELL_INCHES = 0.32
_MARGIN_INCHES = 1.6


def check(path: Path) -> None:
    """Refuse what can't be drawn, before anything is translated for it.

    Raises:
        typer.BadParameter: the file's suffix names no form of picture.
        MissingExtraError: matplotlib is not installed.
    """
    if path.suffix not in SUFFIXES:
        raise typer.BadParameter(f"--attention: {str(path)!r} must end in {', '.join(SUFFIXES)}")
    _figure_class()


def draw(translation: Translation, path: Path) -> None:
    """Write the attention of the best output as a picture, its hard links marked.

    Raises:
        OSError: the file cannot be written.
    """
    aligned = [each for each in translation.hypotheses if each.alignment is not None]
    if aligned:
        draw_hypothesis(aligned[0], path)
    else:
        typer.echo("dragoman: nothing was translated that could be drawn", err=True)


def draw_hypothesis(hypothesis: Hypothesis, path: Path) -> None:
    """Write the attention of one output as a picture."""
    alignment = hypothesis.alignment
    source = [token.piece for token in alignment.source_tokens] if alignment else []
    target = [token.piece for token in hypothesis.tokens]
    size = [_MARGIN_INCHES + _CELL_INCHES * len(labels) for labels in (source, target)]
    figure = _figure_class()(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    if alignment is not None:
        axes.imshow(alignment.attention, cmap="Greys", vmin=0, vmax=1, aspect="auto")
        axes.plot(alignment.links, range(len(alignment.links)), "o", color="C1", markersize=4)
    # A dollar sign in a token is no formula.
    axes.set_xticks(range(len(source)), source, rotation=90, parse_math=False)
    axes.set_yticks(range(len(target)), target, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    figure.savefig(path, dpi=150)


def _figure_class() -> Any:  # noqa: ANN401 - matplotlib need not be there
    try:
        return import_module("matplotlib.figure").Figure
    except ImportError as error:
        advice = f"--attention needs more ({error}): pip install 'dragoman[export]'"
        raise MissingExtraError(advice) from error
