"""What a person sees while a model trains."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dragoman.training.evaluate import DevFigures


class ConsoleReporter:
    """A progress bar on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> ConsoleReporter:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def note(self, text: str) -> None:
        """Show one line of text."""
        self._console.print(text, markup=False)

    def step(self, values: dict[str, Any]) -> None:
        """Move the bar; off a terminal, print a line."""
        text = describe(values)
        self._bar.update(
            self._task, completed=values["step"], total=values["steps"], description=text
        )
        if not self._console.is_terminal:
            self.note(f"step {values['step']}/{values['steps']}  {text}")

    def dev(self, step: int, figures: DevFigures) -> None:
        """Print figures of the dev set."""
        scores = f"BLEU {figures.bleu:.1f}  chrF {figures.chrf:.1f}"
        self.note(f"step {step}  dev loss {figures.loss:.3f}  {scores}")


def describe(values: dict[str, Any]) -> str:
    """Return loss, speed, learning rate and time left in one line."""
    return (
        f"loss {values['loss']:.3f}  {values['tokens_per_second']:,.0f} tokens/s  "
        f"rate {values['learning_rate']:.2e}  {duration(values['seconds_left'])} left"
    )


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
