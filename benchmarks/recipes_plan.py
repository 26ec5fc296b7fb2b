"""What is trained on what: the command line of `benchmarks.recipes` and `benchmarks.toolkit`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.recipes_variants import Variant
from dragoman.training.recipe import Recipe, load_recipe


@dataclass(frozen=True, slots=True)
class Plan:
    """What all variants share: the base recipe, its data, and how much of it each one sees."""

    recipe: Path
    train: Path
    dev: Path
    tokens: int
    output: Path
    threads: int = 1
    dev_rows: int = 500

    @classmethod
    def read(cls, arguments: argparse.Namespace) -> Self:
        """Give what the flags of `parser` name."""
        return cls(
            recipe=arguments.recipe,
            train=arguments.train,
            dev=arguments.dev,
            tokens=arguments.tokens,
            output=arguments.output.resolve(),
            threads=arguments.threads,
            dev_rows=arguments.dev_rows,
        )

    def settings(self, variant: Variant) -> tuple[str, ...]:
        """Return the variant's settings after those of the data."""
        data = (f'data.train=["{self.train.resolve()}"]', f'data.dev="{self.dev.resolve()}"')
        return (*data, *variant.settings)

    def load(self, variant: Variant) -> Recipe:
        """Return the variant as a recipe."""
        settings = Variant(variant.name, "", self.settings(variant))
        return load_recipe(self.recipe, settings.overrides())


def parser(description: str | None) -> argparse.ArgumentParser:
    """Make a parser of the flags that `Plan.read` reads."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("recipe", type=Path)
    made.add_argument("--train", type=Path, required=True)
    made.add_argument("--dev", type=Path, required=True)
    made.add_argument("--tokens", type=int, default=1_000_000, help="target tokens of each run")
    made.add_argument("--output", type=Path, required=True)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--dev-rows", type=int, default=500, help="so many of the first dev rows")
    return made
