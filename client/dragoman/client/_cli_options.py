"""The options that every command with a server has, written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.client._quiet import native_notes_muted
from dragoman.client.async_client import AsyncClient
from dragoman.client.client import Client
from dragoman.client.options import DEFAULT_ADDRESS, DEFAULT_TIMEOUT, Tls

Command = Callable[..., None]

_PANEL = "Connection"


@dataclass(frozen=True, slots=True)
class Connection:
    """What the options of a command say of its server."""

    address: str
    model: str
    timeout: float
    tls: Tls | None

    def client(self) -> Client:
        """Make a client of it."""
        return Client(self.address, model=self.model, timeout=self.timeout, tls=self.tls)

    def async_client(self) -> AsyncClient:
        """Make an asynchronous client of it."""
        return AsyncClient(self.address, model=self.model, timeout=self.timeout, tls=self.tls)


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
        typer.Option(
            "--tls", help="Encrypt, as any other --tls option does.", rich_help_panel=_PANEL
        ),
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
) -> Connection:
    """Gather the options of a command that describe its server."""
    given = any(value is not None for value in (tls_ca, tls_cert, tls_key, tls_server_name))
    encrypted = Tls(tls_ca, tls_cert, tls_key, tls_server_name) if tls or given else None
    return Connection(address, model, timeout, encrypted)


def connected(*, without: str = "", **defaults: object) -> Callable[[Command], Command]:
    """Give a command a `Client` as its first argument, and the options of `connect`.

    Args:
        without: an option that means nothing to the command.
        **defaults: other defaults of those options.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(connection: Connection, **arguments: object) -> None:
            with connection.client() as client:
                command(client, **arguments)

        return connecting(without=without, **defaults)(run)

    return decorate


def connecting(*, without: str = "", **defaults: object) -> Callable[[Command], Command]:
    """Give a command a `Connection` as its first argument; the same options."""
    shared = [
        option.replace(default=defaults.get(option.name, option.default))
        for option in inspect.signature(connect, eval_str=True).parameters.values()
        if option.name != without
    ]

    def decorate(command: Command) -> Command:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @functools.wraps(command)
        def run(**arguments: object) -> None:
            given: dict[str, Any] = {each.name: arguments.pop(each.name) for each in shared}
            with native_notes_muted():
                command(connect(**given), **arguments)

        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *shared]
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate
