"""Commands that live elsewhere, named in the entry points ``dragoman.commands``.

They are loaded when they are run and not before: their packages may be large, or not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

import typer

GROUP = "dragoman.commands"

HELP_OPTIONS = ["-h", "--help"]
"""The flags that show the help of any command."""

EXTRAS = {
    "serve": "server",
    "corpus": "export",
    "train": "export",
    "average": "export",
    "export": "export",
    "evaluate": "export",
    "plot-training": "export",
}
"""The extra that brings what a command of this distribution needs."""

SUMMARIES = {
    "serve": "Serve a model.",
    "corpus": "Build parallel text for training.",
    "train": "Train a model.",
    "average": "Average the checkpoints of a training run.",
    "export": "Turn a trained model into a bundle that can be served.",
    "evaluate": "Measure a served model on a test set.",
    "plot-training": "Draw the quality of a model while it was trained.",
}

_PASS_EVERYTHING = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


class MissingExtraError(typer.TyperException):
    """A command cannot be loaded; the message says how to install what it needs."""

    exit_code = 2


def register(app: typer.Typer) -> None:
    """Add the commands to `app`, after its own, by name; its own come first on equal names."""
    taken = {
        info.name or getattr(info.callback, "__name__", "") for info in app.registered_commands
    }
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name not in taken:
            app.command(
                name=entry.name, help=_summary(entry.name), context_settings=_PASS_EVERYTHING
            )(_runner(entry))
            taken.add(entry.name)


def run(entry: EntryPoint, arguments: list[str]) -> int:
    """Load a command and run it with its own arguments; gives its exit code.

    Raises:
        MissingExtraError: what it needs is not installed.
    """
    try:
        command = typer.main.get_command(_as_app(entry.load()))
        code = command.main(
            arguments,
            prog_name=f"dragoman {entry.name}",
            standalone_mode=False,
            help_option_names=HELP_OPTIONS,
        )
    except ImportError as error:
        raise MissingExtraError(_advice(entry.name, error)) from error
    return code if isinstance(code, int) else 0


def _runner(entry: EntryPoint) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        raise typer.Exit(run(entry, context.args))

    return command


def _as_app(target: object) -> typer.Typer:
    if isinstance(target, typer.Typer):
        return target
    if not callable(target):
        raise TypeError(f"{target!r} is no command")
    app = typer.Typer(add_completion=False)
    app.command()(target)
    return app


def _summary(name: str) -> str:
    summary = SUMMARIES.get(name, "A command of another package.")
    return f"{summary} Needs the extra {EXTRAS[name]!r}." if name in EXTRAS else summary


def _advice(name: str, error: ImportError) -> str:
    if name not in EXTRAS:
        return f"the command {name!r} cannot be loaded: {error}"
    return f"{name} needs more ({error}): pip install 'dragoman[{EXTRAS[name]}]'"
