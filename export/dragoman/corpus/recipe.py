"""The recipe: two languages and the packages to read, in groups."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from dragoman.corpus.errors import RecipeError
from dragoman.corpus.locales import Locale, parse_pair

RECIPES = Path(__file__).parent / "recipes"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a corpus is made from.

    Attributes:
        source: English.
        target: The other language.
        packages: Names of binary packages by group, the richest first; groups only order them.
    """

    source: Locale
    target: Locale
    packages: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """The pair as one writes it, "en-de"."""
        return f"{self.source.code}-{self.target.code}"

    def names(self) -> tuple[str, ...]:
        """Return every package once, the groups taking turns."""
        turns = zip_longest(*self.packages.values())
        return tuple(dict.fromkeys(name for turn in turns for name in turn if name))

    def sample(self, count: int) -> Recipe:
        """Return the recipe with only `count` packages, the groups taking turns.

        Raises:
            RecipeError: The count is below one.
        """
        if count < 1:
            raise RecipeError(f"sample: {count} must be at least 1")
        kept = set(self.names()[:count])
        return replace(
            self,
            packages={
                group: tuple(name for name in names if name in kept)
                for group, names in self.packages.items()
            },
        )

    def toml(self) -> str:
        """Return the recipe as a file that `load_recipe` reads."""
        groups = "\n".join(
            f"{group} = [\n{_wrapped(names)}]\n" for group, names in self.packages.items()
        )
        return (
            f'source_language_code = "{self.source.code}"\n'
            f'target_language_code = "{self.target.code}"\n\n[packages]\n{groups}'
        )


def committed_recipe(pair: str) -> Recipe | None:
    """Return the recipe that comes with this package, None where there is none for the pair.

    Raises:
        RecipeError: The pair cannot be read.
    """
    parse_pair(pair)
    path = RECIPES / f"{pair}.toml"
    return load_recipe(path, pair) if path.exists() else None


def load_recipe(path: Path, pair: str) -> Recipe:
    """Read a recipe (.toml), or a plain list of packages, one a line, `#` for comments.

    Raises:
        RecipeError: Not a recipe, or one for another pair.
        OSError: The file cannot be read.
    """
    source, target = parse_pair(pair)
    if path.suffix != ".toml":
        return Recipe(source, target, {"listed": tuple(_listed(path))})
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: not TOML: {error}") from error
    codes = (values.get("source_language_code"), values.get("target_language_code"))
    if codes != (source.code, target.code):
        raise RecipeError(
            f"{path}: source and target_language_code {codes} must be those of {pair}"
        )
    return Recipe(source, target, _groups(values.get("packages"), path))


def _groups(value: object, path: Path) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict) or not value:
        raise RecipeError(f"{path}: [packages] must hold at least one group")
    for group, names in value.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise RecipeError(f"{path}: packages.{group} must be a list of names")
    return {group: tuple(names) for group, names in value.items()}


def _listed(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        name = line.partition("#")[0].strip()
        if name:
            yield name


def _wrapped(names: tuple[str, ...]) -> str:
    lines: list[str] = []
    for name in names:
        item = f'"{name}",'
        if lines and len(lines[-1]) + len(item) < 98:
            lines[-1] += f" {item}"
        else:
            lines.append(f"  {item}")
    return "".join(f"{line}\n" for line in lines)
