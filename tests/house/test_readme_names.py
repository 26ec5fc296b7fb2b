"""What the README names exists: options of the SDK and of the shell, settings of recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from typing import Any, get_type_hints

import typer

from dragoman.client import ModelOptions, Sampling, TranslateOptions, _plugins, cli
from dragoman.client._cli_decoding import decoding
from dragoman.training.recipe import Recipe

README = (Path(__file__).parents[2] / "README.md").read_text()
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([^`]+)`")


def decoding_table() -> Iterator[tuple[list[str], str]]:
    """The options of the SDK in each row, and what stands beside them for the shell."""
    _, _, rest = PROSE.partition("| option of the SDK |")
    for row in rest.partition("\n\n")[0].splitlines()[2:]:
        options, flags, *_ = row.removeprefix("|").split("|")
        yield NAME.findall(options), flags


def flags_of(command: Any) -> set[str]:
    """The flags of a command and of those below it."""
    own = {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
    return own.union(*map(flags_of, getattr(command, "commands", {}).values()))


def every_flag() -> set[str]:
    """The flags of all commands."""
    others = (_plugins._as_app(each.load()) for each in entry_points(group=_plugins.GROUP))
    return set().union(*(flags_of(typer.main.get_command(app)) for app in (cli.app, *others)))


def test_every_option_of_decoding_has_its_place() -> None:
    told = {name for names, _ in decoding_table() for name in names}
    options = set(get_type_hints(TranslateOptions)) - set(get_type_hints(ModelOptions))
    assert told == options | {field.name for field in fields(Sampling)}


def test_every_flag_of_decoding_has_its_place() -> None:
    told = [
        flag
        for names, flags in decoding_table()
        for flag in NAME.findall(flags) or [f"--{name.replace('_', '-')}" for name in names]
    ]
    assert sorted(told) == sorted(
        f"--{name.replace('_', '-')}" for name in signature(decoding).parameters
    )


def test_every_flag_belongs_to_a_command() -> None:
    told = set(re.findall(r"`(--[a-z][a-z-]*)", PROSE))
    assert told
    assert told - every_flag() == set()


def test_every_setting_is_one_of_a_recipe() -> None:
    parts = {
        name: kind
        for name, kind in get_type_hints(Recipe).items()
        if hasattr(kind, "__dataclass_fields__")
    }
    told = re.findall(rf"`({'|'.join(parts)})\.(\w+)", PROSE)
    assert told
    assert [name for part, name in told if name not in get_type_hints(parts[part])] == []
