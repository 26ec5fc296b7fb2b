"""Commands of other packages: loaded when run, and missing extras named in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent

import pytest
import typer

from dragoman.client import _plugins, cli

Install = Callable[..., Callable[..., tuple[int, str, str]]]

MODULE = """
    from typing import Annotated
    import typer

    def greet(name: str, loud: bool = False, times: Annotated[int, typer.Option("-n")] = 1) -> None:
        '''Greet somebody.'''
        for _ in range(times):
            print(f"hello {name}".upper() if loud else f"hello {name}")
        if name == "nobody":
            raise typer.Exit(5)
        if name == "later":
            import a_package_that_nobody_has

    app = typer.Typer()

    @app.command()
    def first() -> None:
        print("first")

    @app.command()
    def second() -> None:
        print("second")

    number = 5
"""


@pytest.fixture
def install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Install]:
    """Install entry points beside the real ones; gives a function that runs a command."""
    (tmp_path / "some_commands.py").write_text(dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)

    def installed(**values: str) -> Callable[..., tuple[int, str, str]]:
        entries = [EntryPoint(name, value, _plugins.GROUP) for name, value in values.items()]
        monkeypatch.setattr(_plugins, "entry_points", lambda group: entries)
        app = typer.Typer()
        app.command("translate")(lambda: print("translated"))  # noqa: T201
        monkeypatch.setattr(cli, "app", app)

        def run(*arguments: str) -> tuple[int, str, str]:
            code = cli.main(list(arguments))
            output, errors = capsys.readouterr()
            return code, output, errors

        return run

    yield installed
    sys.modules.pop("some_commands", None)


def test_a_function_gets_its_arguments(install: Install) -> None:
    run = install(greet="some_commands:greet")
    assert run("greet", "you") == (0, "hello you\n", "")
    assert run("greet", "you", "--loud", "-n", "2") == (0, "HELLO YOU\nHELLO YOU\n", "")
    assert run("greet", "nobody") == (5, "hello nobody\n", "")


def test_a_function_shows_its_own_help(install: Install) -> None:
    code, output, errors = install(greet="some_commands:greet")("greet", "--help")
    assert (code, errors) == (0, "")
    assert "Usage: dragoman greet [OPTIONS]" in output
    assert "Greet somebody." in output


def test_a_wrong_use_of_it_takes_one_line(install: Install) -> None:
    code, output, errors = install(greet="some_commands:greet")("greet", "you", "--soft")
    assert (code, output) == (2, "")
    assert errors.startswith("dragoman: No such option: --soft")


def test_an_app_has_commands_of_its_own(install: Install) -> None:
    run = install(many="some_commands:app")
    assert run("many", "second") == (0, "second\n", "")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_both_help_flags(install: Install, flag: str) -> None:
    run = install(greet="some_commands:greet", many="some_commands:app")
    for command in (["greet"], ["many"], ["many", "second"]):
        code, output, errors = run(*command, flag)
        assert (code, errors) == (0, "")
        assert f"Usage: dragoman {' '.join(command)} [OPTIONS]" in output


def test_what_is_no_command_is_told(install: Install) -> None:
    code, _, errors = install(number="some_commands:number")("number")
    assert code == 1
    assert "5 is no command" in errors


def test_nothing_is_loaded_for_the_help(install: Install) -> None:
    run = install(greet="some_commands:greet", serve="no_such_module:serve")
    code, output, _ = run("--help")
    assert code == 0
    assert "greet" in output
    assert "Serve a model." in output
    assert "some_commands" not in sys.modules


@pytest.mark.parametrize(
    ("name", "extra"), [("serve", "server"), ("train", "export"), ("export", "export")]
)
def test_a_missing_extra_is_named_in_one_line(install: Install, name: str, extra: str) -> None:
    run = install(**{name: "a_package_that_nobody_has:command"})
    assert run(name, "--port", "1") == (
        2,
        "",
        f"dragoman: {name} needs more (No module named 'a_package_that_nobody_has'): "
        f"pip install 'dragoman[{extra}]'\n",
    )


def test_an_extra_that_is_missed_late(install: Install) -> None:
    code, _, errors = install(serve="some_commands:greet")("serve", "later")
    assert code == 2
    assert "pip install 'dragoman[server]'" in errors


def test_a_foreign_command_without_its_package(install: Install) -> None:
    assert install(other="a_package_that_nobody_has:command")("other") == (
        2,
        "",
        "dragoman: the command 'other' cannot be loaded: "
        "No module named 'a_package_that_nobody_has'\n",
    )


def test_own_commands_come_first(install: Install) -> None:
    run = install(translate="some_commands:greet", other="some_commands:greet")
    assert run("translate") == (0, "translated\n", "")
