"""`dragoman train` and `dragoman average`."""

from __future__ import annotations

import signal
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.training.averaging import average_checkpoints
from dragoman.training.errors import CheckpointError
from dragoman.training.memory import keep_freed_memory
from dragoman.training.progress import ConsoleReporter
from dragoman.training.recipe import load_recipe
from dragoman.training.trainer import Trainer
from dragoman.transformer import ConfigError


def train(
    config: Annotated[Path, typer.Argument(help="The recipe, a TOML file.")],
    output: Annotated[
        Path | None, typer.Option(help="Directory of the run (default: runs/<recipe name>).")
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(help="A checkpoint to continue in this run, with its optimizer state."),
    ] = None,
    override: Annotated[
        list[str] | None,
        typer.Option("--set", help='A value of the recipe, as "training.steps=500".'),
    ] = None,
) -> None:
    """Train a Transformer; a run goes on from its newest checkpoint.

    SIGINT and SIGTERM end it after the update under way, with a checkpoint of that moment.
    """
    keep_freed_memory()
    try:
        recipe = load_recipe(config, parse_overrides(override or []))
        with ConsoleReporter() as reporter:
            trainer = Trainer(recipe, output or Path("runs") / config.stem, reporter)
            if not trainer.resume() and start_from is not None:
                trainer.resume(start_from)
            for name in (signal.SIGINT, signal.SIGTERM):
                signal.signal(name, lambda *_: trainer.stop())
            trainer.run()
    except (ConfigError, CheckpointError, OSError) as error:
        typer.echo(f"dragoman train: {error}", err=True)
        raise typer.Exit(1) from error
    if trainer.stopping:
        typer.echo(f"stopped after step {trainer.progress.step}; call it again to go on", err=True)
        raise typer.Exit(130)


def average(
    checkpoints: Annotated[list[Path], typer.Argument(help="Two checkpoints of one run, or more.")],
    output: Annotated[Path, typer.Argument(help="The directory to write, a new one.")],
) -> None:
    """Write the mean of the weights of checkpoints as a checkpoint of its own.

    It can be exported; training goes on from the checkpoints that it was made of.
    """
    try:
        steps = average_checkpoints(checkpoints, output)
    except (ConfigError, CheckpointError, OSError) as error:
        typer.echo(f"dragoman average: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"wrote {output}: the mean of steps {', '.join(map(str, steps))}")


def parse_overrides(entries: list[str]) -> dict[str, Any]:
    """Read "name=value" entries; a value is TOML, or a plain string where it is not."""
    values: dict[str, Any] = {}
    for entry in entries:
        name, separator, text = entry.partition("=")
        if not separator:
            raise ConfigError(f"--set: {entry!r} must be name=value")
        values[name.strip()] = _value(text.strip())
    return values


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
