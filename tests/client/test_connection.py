"""Connections: made late, never shared over a fork or between loops, closed or complained about."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
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
    ForkError,
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


PROGRAM = """
    import os, sys
    from dragoman.client import Client, AsyncClient
    import asyncio

    address = sys.argv[1]
    client = Client(address)
    assert client.translate("parent").text == "PARENT"
    codes = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            assert client.translate("child").text == "CHILD"
            assert [c.text for c in client.stream("a b")] == ["A", " B"]
            client.close()
            sys.exit(7)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        assert client.translate("parent").text == "PARENT"
    client.close()
    print(codes)
"""


def run(program: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Run a program in a Python of its own in which every warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", textwrap.dedent(program), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_used_client_works_in_forked_children(address: str) -> None:
    code, output, errors = run(PROGRAM, address, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert (code, output) == (0, "[7, 7, 7, 7, 7]\n"), errors


ASYNC_PROGRAM = """
    import asyncio, os, sys
    from dragoman.client import AsyncClient, Client, ForkError

    address = sys.argv[1]

    async def shout(client, text):
        async with client:
            return (await client.translate(text)).text

    async def leave_open(client):
        return (await client.translate("parent")).text

    def in_a_child(work):
        child = os.fork()
        if child == 0:
            try:
                work()
            except ForkError as error:
                print(error, flush=True)
                os._exit(8)
            os._exit(7)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def async_child():
        assert asyncio.run(shout(AsyncClient(address), "child")) == "CHILD"

    def blocking_child():
        with Client(address) as client:
            assert client.translate("child").text == "CHILD"

    assert asyncio.run(shout(AsyncClient(address), "parent")) == "PARENT"
    codes = [in_a_child(async_child), in_a_child(blocking_child)]
    client = AsyncClient(address)
    assert asyncio.run(leave_open(client)) == "PARENT"
    codes += [in_a_child(async_child), in_a_child(blocking_child)]
    asyncio.run(client.close())
    print(codes)
"""


def test_asyncio_clients_and_forks(address: str) -> None:
    code, output, errors = run(ASYNC_PROGRAM, address, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert (code, output) == (
        0,
        "forked while an AsyncClient was open: close it before, or use Client\n[7, 7, 8, 7]\n",
    ), errors


STREAM_PROGRAM = """
    import os, sys
    from dragoman.client import Client, ForkError

    with Client(sys.argv[1]) as client:
        stream = client.stream("one two")
        assert next(stream).text == "ONE"
        child = os.fork()
        if child == 0:
            try:
                assert client.translate("child").text == "CHILD"
            except ForkError as error:
                print(error, flush=True)
                os._exit(8)
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stream.cancel()
        child = os.fork()
        if child == 0:
            assert client.translate("child").text == "CHILD"
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "forked in a call: set GRPC_ENABLE_FORK_SUPPORT=1 before Python starts\n8\n7\n"),
        ({"GRPC_ENABLE_FORK_SUPPORT": "1"}, "7\n7\n"),
    ],
)
def test_a_fork_in_the_middle_of_a_stream(
    address: str, shouting: Shouting, environment: dict[str, str], wanted: str
) -> None:
    shouting.patience = 60
    environment |= {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    code, output, errors = run(STREAM_PROGRAM, address, **environment)
    assert (code, output) == (0, wanted), errors


def test_a_child_never_touches_its_parents_stream(address: str, shouting: Shouting) -> None:
    shouting.patience = 0.05
    program = """
        import os, sys
        from dragoman.client import Client

        with Client(sys.argv[1]) as client:
            stream = client.stream("one two three")
            assert next(stream).text == "ONE"
            child = os.fork()
            if child == 0:
                stream.cancel()
                del stream
                os._exit(7)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            print([chunk.text for chunk in stream])
    """
    code, output, errors = run(program, address, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert (code, output) == (0, "7\n[' TWO', ' THREE']\n"), errors


def test_fork_support_switched_off_is_an_error(address: str) -> None:
    program = """
        import os, sys
        from dragoman.client import Client, ForkError

        client = Client(sys.argv[1], timeout=5)
        client.translate("parent")
        child = os.fork()
        if child == 0:
            try:
                client.translate("child")
            except ForkError as error:
                assert "GRPC_ENABLE_FORK_SUPPORT" in str(error)
                os._exit(7)
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        client.close()
    """
    code, output, errors = run(
        program,
        address,
        GRPC_ENABLE_FORK_SUPPORT="0",
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    assert (code, output) == (0, "7\n"), errors
    assert issubclass(ForkError, RuntimeError)


def test_subprocesses_start_during_a_stream(address: str, shouting: Shouting) -> None:
    shouting.patience = 0.2
    with Client(address) as client:
        stream = client.stream("one two")
        next(stream)
        subprocess.run([sys.executable, "-c", ""], check=True, timeout=30)
        assert next(stream).text == " TWO"


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


def test_a_program_that_closes_nothing_ends_in_silence(address: str) -> None:
    program = """
        import asyncio, sys
        from dragoman.client import AsyncClient, Client

        client = Client(sys.argv[1])
        print(client.translate("one").text)
        stream = client.stream("one two")
        print(next(stream).text)
        other = AsyncClient(sys.argv[1])

        async def main():
            print((await other.translate("two")).text)
            await anext(other.stream("one two"))

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), address],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ONE\nONE\nTWO\n", "")


def test_an_unanswered_wait_does_not_keep_the_process(address: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    program = """
        import sys, threading
        from dragoman.client import Client

        client = Client(sys.argv[1])
        threading.Thread(target=client.translate, args=("one",), daemon=True).start()
        threading.Event().wait(0.3)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), address],
        check=False,
        capture_output=True,
        timeout=30,
    )
    assert done.returncode == 0


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
