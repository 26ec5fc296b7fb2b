"""Connections: made late, never shared over a fork or between loops, closed or complained about."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from dragoman.client import (
    AsyncClient,
    Client,
    ClientClosedError,
    DeadlineExceededError,
    InvalidArgumentError,
    UnreachableError,
)
from dragoman.v1.translation_pb2_grpc import add_TranslationServiceServicer_to_server
from tests.client.backend import Shouting, proxied, served, wait_until
from tests.client.conftest import Stack, following

OPEN_FILES = Path("/proc/self/fd")


def test_making_a_client_connects_to_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Client("nowhere.invalid:1")
        AsyncClient("nowhere.invalid:1")
        gc.collect()
    assert caught == []


def test_an_asyncio_client_made_outside_of_the_loop(address: str) -> None:
    client = AsyncClient(address)

    async def main(close: bool) -> str:
        translation = await client.translate("one")
        if close:
            await client.close()
        return translation.text

    def loops() -> None:
        assert asyncio.run(main(close=False)) == "ONE"
        assert asyncio.run(main(close=True)) == "ONE"

    thread = threading.Thread(target=loops)
    thread.start()
    thread.join()
    with pytest.raises(ClientClosedError):
        asyncio.run(main(close=True))


def test_a_client_dropped_open_warns_and_closes(address: str) -> None:
    client = Client(address)
    client.translate("one")
    held = [client]
    del client
    with pytest.warns(ResourceWarning, match=rf"unclosed Client\('{address}'\)"):
        held.clear()


async def test_an_asyncio_client_dropped_open_warns(address: str) -> None:
    client = AsyncClient(address)
    await client.translate("one")
    held = [client]
    del client
    with pytest.warns(ResourceWarning, match=r"unclosed AsyncClient\("):
        held.clear()


async def test_closing_may_be_repeated(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        await client.translate("one")
        await client.close()
        await client.close()
        for call in (client.translate("one"), client.models(), client.health()):
            with pytest.raises(ClientClosedError, match="closed"):
                await call


async def test_a_client_is_its_own_context_manager(address: str) -> None:
    with Client(address) as client:
        client.translate("one")
    with pytest.raises(ClientClosedError):
        client.translate("one")
    async with AsyncClient(address) as other:
        await other.translate("one")
    with pytest.raises(ClientClosedError):
        await other.translate("one")


def test_a_given_channel_is_used_and_left_open(address: str) -> None:
    with grpc.insecure_channel(address) as channel:
        with Client(channel=channel) as client:
            assert client.translate("one").text == "ONE"
        with Client(channel=channel) as again:
            assert [chunk.text for chunk in again.stream("one two")] == ["ONE", " TWO"]
    with Client(channel=channel) as late, pytest.raises(ClientClosedError):
        late.translate("one")


async def test_a_given_asyncio_channel_is_used_and_left_open(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        async with AsyncClient(channel=channel) as client:
            assert (await client.translate("one")).text == "ONE"
        async with AsyncClient(channel=channel) as again:
            assert [chunk.text async for chunk in again.stream("one two")] == ["ONE", " TWO"]
    async with AsyncClient(channel=channel) as late:
        with pytest.raises(ClientClosedError):
            await late.translate("one")
        with pytest.raises(ClientClosedError):
            await anext(late.stream("one"))


def test_threads_share_a_client(address: str) -> None:
    results: list[str] = []
    with Client(address) as client:
        start = threading.Barrier(8)

        def work(index: int) -> None:
            start.wait()
            results.extend(client.translate(f"text {index}").text for _ in range(5))

        threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(results) == sorted(f"TEXT {index}" for index in range(8) for _ in range(5))


async def test_a_half_open_connection_is_noticed(stack: Stack, shouting: Shouting) -> None:
    shouting.patience = 60
    with served(shouting) as target, proxied(target) as proxy:
        async with stack.client(
            proxy.address, keepalive_seconds=0.5, keepalive_timeout_seconds=2
        ) as client:
            stream = await client.stream("one two")
            assert await following(stream) == "ONE"
            proxy.swallowing = True
            begun = time.monotonic()
            with pytest.raises(UnreachableError) as caught:
                await following(stream)
            assert time.monotonic() - begun < 20
    assert caught.value.partial_text == "ONE"


async def test_without_probes_only_the_deadline_helps(stack: Stack, shouting: Shouting) -> None:
    shouting.patience = 60
    with served(shouting) as target, proxied(target) as proxy:
        async with stack.client(proxy.address, keepalive_seconds=None, timeout=1) as client:
            stream = await client.stream("one two")
            assert await following(stream) == "ONE"
            proxy.swallowing = True
            with pytest.raises(DeadlineExceededError):
                await following(stream)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"address": ""}, "address: '' must be host:port"),
        ({"address": "localhost"}, "address: 'localhost' must be host:port"),
        ({"address": "http://localhost:1"}, "without http://"),
        ({"max_attempts": 0}, "max_attempts: 0 is not in 1..5"),
        ({"max_attempts": 6}, "max_attempts: 6 is not in 1..5"),
        ({"max_message_bytes": 0}, "max_message_bytes: 0 is not in"),
        ({"max_message_bytes": 2**31}, "max_message_bytes: 2147483648 is not in"),
        ({"keepalive_seconds": 0}, "keepalive_seconds: 0 is not a time of more than 0 s"),
        ({"keepalive_timeout_seconds": -1}, "keepalive_timeout_seconds: -1 is not"),
        ({"metadata": {"grpc-timeout": "5"}}, "'grpc-timeout' is no name of metadata"),
        ({"metadata": {"a b": "5"}}, "'a b' is no name of metadata"),
        ({"metadata": {"a": "ä"}}, "not printable ASCII"),
        ({"metadata": {"a": "x\ny"}}, "not printable ASCII"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_settings_out_of_range(kind: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        kind(**keywords)
    assert message in str(caught.value)
    assert caught.value.field == next(iter(keywords))


@pytest.mark.parametrize(
    "keywords",
    [{"address": 5}, {"timeout": "x"}, {"metadata": {"a": b"x"}}, {"metadata": {"a": 5}}],
)
def test_settings_of_wrong_types(keywords: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Client(**keywords)


@pytest.mark.parametrize(
    "address", ["localhost:1", "[::1]:50051", "dns:///a.example:1", "unix:/run/x", "ipv4:1.2.3.4:5"]
)
def test_addresses(address: str) -> None:
    assert repr(Client(address)) == f"Client({address!r})"


def test_a_unix_socket(tmp_path: Any, shouting: Shouting) -> None:
    server = grpc.server(ThreadPoolExecutor(2))
    add_TranslationServiceServicer_to_server(shouting, server)
    server.add_insecure_port(f"unix:{tmp_path}/s")
    server.start()
    with Client(f"unix:{tmp_path}/s") as client:
        assert client.translate("one").text == "ONE"
    server.stop(None).wait()


def test_no_growth_of_threads_or_files(address: str) -> None:
    def cycle() -> None:
        with Client(address) as client:
            client.translate("one")
            for _ in client.stream("one two"):
                break

    cycle()
    wait_until(lambda: threading.active_count() <= 40)
    files = len(list(OPEN_FILES.iterdir()))
    threads = threading.active_count()
    for _ in range(20):
        cycle()
    assert wait_until(lambda: len(list(OPEN_FILES.iterdir())) <= files + 4)
    assert wait_until(lambda: threading.active_count() <= threads + 2)
