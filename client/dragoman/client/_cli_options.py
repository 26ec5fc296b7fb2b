"""The options that every command with a server has, written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.client._quiet import native_notes_muted
from dragoman.client.client import Client
from dragoman.client.options import DEFAULT_ADDRESS, DEFAULT_TIMEOUT, Tls

Command = Callable[..., None]

_PANEL = "Connection"


def connect(
    *,
    address: Annotated[
        str,
        typer.Option(
            envvar="DRAGOMAN_ADDRESS", help="host:port of the server.", rich_help_panel=_PANEL
        ),
    ] = DEFAULT_ADDRESS,
    model: Annotated[
        str,
        typer.Option(help="The model, models/...; the server's default model by default."),
    ] = "",
    timeout: Annotated[
        float, typer.Option(help="Seconds that a call may take.", rich_help_panel=_PANEL)
    ] = DEFAULT_TIMEOUT,
    tls: Annotated[
        bool,
        typer.Option("--tls", help="Encrypt; so do all --tls options.", rich_help_panel=_PANEL),
    ] = False,
    tls_ca: Annotated[
        Path | None,
        typer.Option(
            help="PEM file that vouches for the server; public authorities by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(help="PEM file with this side's certificate.", rich_help_panel=_PANEL),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="PEM file with its key.", rich_help_panel=_PANEL)
    ] = None,
    tls_server_name: Annotated[
        str | None,
        typer.Option(
            help="The name in the server's certificate, if not the address.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
) -> Client:
    """Make the client that a command's options describe."""
    given = any(value is not None for value in (tls_ca, tls_cert, tls_key, tls_server_name))
    return Client(
        address,
        model=model,
        timeout=timeout,
        tls=Tls(tls_ca, tls_cert, tls_key, tls_server_name) if tls or given else None,
    )


def connected(**defaults: object) -> Callable[[Command], Command]:
    """Give a command a `Client` as its first argument, and the options of `connect`.

    Args:
        **defaults: other defaults of those options.
    """
    shared = [
        option.replace(default=defaults.get(option.name, option.default))
        for option in inspect.signature(connect, eval_str=True).parameters.values()
    ]

    def decorate(command: Command) -> Command:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @functools.wraps(command)
        def run(**arguments: object) -> None:
            given: dict[str, Any] = {each.name: arguments.pop(each.name) for each in shared}
            with native_notes_muted(), connect(**given) as client:
                command(client, **arguments)

        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *shared]
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate
