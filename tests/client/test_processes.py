"""Clients in programs of their own: forked, or left open at the end."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from dragoman.client import Client, ForkError
from tests.client.backend import Shouting

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
