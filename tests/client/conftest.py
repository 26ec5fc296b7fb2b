"""Both clients behind one face, so that each promise is tested once and held by both."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.client import AsyncClient, Client, cli
from tests.client.backend import Models, Shouting, healthy, served
from tests.server.harness import Hosted, config, hosted

Run = Callable[..., tuple[int, str, str]]


class Stack:
    """One of the two clients; what must be awaited is awaited."""

    def __init__(self, kind: type[Client] | type[AsyncClient]) -> None:
        self.kind = kind

    @asynccontextmanager
    async def client(self, *arguments: Any, **keywords: Any) -> AsyncIterator[Driver]:
        client = self.kind(*arguments, **keywords)
        try:
            yield Driver(client)
        finally:
            await settled(client.close())


class Driver:
    """A client whose methods are all awaited."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        async def call(*arguments: Any, **keywords: Any) -> Any:
            return await settled(method(*arguments, **keywords))

        return call

    async def stream(self, *arguments: Any, **keywords: Any) -> Any:
        return self.client.stream(*arguments, **keywords)


async def settled(value: Any) -> Any:
    """A value, awaited if it must be."""
    return await value if inspect.isawaitable(value) else value


async def following(stream: Any) -> str | None:
    """The text of the next chunk of a stream of either kind; None at its end."""
    try:
        chunk = await anext(stream) if hasattr(stream, "__anext__") else next(stream)
    except (StopIteration, StopAsyncIteration):
        return None
    text: str = chunk.text
    return text


async def texts(stream: Any) -> list[str]:
    """The texts of all chunks that are left."""
    received = []
    while (text := await following(stream)) is not None:
        received.append(text)
    return received


@pytest.fixture(params=[Client, AsyncClient], ids=["blocking", "asyncio"])
def stack(request: pytest.FixtureRequest) -> Stack:
    return Stack(request.param)


@pytest.fixture
def shouting() -> Shouting:
    return Shouting()


@pytest.fixture
def address(shouting: Shouting) -> Iterator[str]:
    """A server that translates into capitals and is healthy."""
    with served(shouting, Models([]), healthy()) as where:
        yield where


@pytest.fixture(scope="module")
def server(tiny_bundle: Path) -> Iterator[Hosted]:
    """The real one, with a tiny model that translates number words."""
    with hosted(config(tiny_bundle)) as server:
        yield server


@pytest.fixture
def real(server: Hosted) -> str:
    """Its address."""
    return f"127.0.0.1:{server.server.port}"


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process; gives its exit code, output and errors."""

    def main(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.main(list(arguments))
        output, errors = capfd.readouterr()
        return code, output, errors

    return main
