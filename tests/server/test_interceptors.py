"""The common ground of the interceptors, with contexts of our own in place of gRPC's."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from dragoman.server.interceptors.base import (
    OTHER,
    Behaviour,
    Context,
    Interceptor,
    Method,
    outcome,
)


class Seen(Interceptor):
    """Notes which methods it surrounds."""

    def __init__(self, methods: dict[str, Method]) -> None:
        super().__init__(methods)
        self.methods: list[Method] = []

    async def around(
        self, method: Method, proceed: Behaviour, request: object, context: Context
    ) -> object:
        self.methods.append(method)
        return await proceed(request, context)


class Writes:
    """A context that takes messages until it is told to hang."""

    def __init__(self, hang_at: int) -> None:
        self.messages: list[object] = []
        self.hang_at = hang_at
        self.hangs = asyncio.Event()

    async def write(self, message: object) -> None:
        self.messages.append(message)
        if len(self.messages) == self.hang_at:
            self.hangs.set()
            await asyncio.sleep(3600)


def details(path: str) -> Any:
    return SimpleNamespace(method=path, invocation_metadata=())


KNOWN = Method("a.Service", "Do", "unary")


async def resolve(interceptor: Interceptor, path: str, handler: Any) -> Any:
    async def continuation(_: Any) -> Any:
        return handler

    return await interceptor.intercept_service(continuation, details(path))


async def test_a_method_is_surrounded_once() -> None:
    async def do(request: str, context: Any) -> str:
        return request.upper()

    seen = Seen({"/a.Service/Do": KNOWN})
    handler: Any = grpc.unary_unary_rpc_method_handler(do)
    first = await resolve(seen, "/a.Service/Do", handler)
    assert await resolve(seen, "/a.Service/Do", handler) is first
    assert await first.unary_unary("x", None) == "X"
    assert seen.methods == [KNOWN]


async def test_what_is_not_known_is_other_and_not_kept() -> None:
    async def do(request: str, context: Any) -> str:
        return request

    seen = Seen({})
    handler: Any = grpc.unary_unary_rpc_method_handler(do)
    for number in range(3):
        surrounded = await resolve(seen, f"/made.Up/{number}", handler)
        await surrounded.unary_unary("x", None)
    assert seen.methods == [OTHER] * 3
    assert seen._surrounded == {}


async def test_no_method_stays_no_method() -> None:
    assert await resolve(Seen({}), "/made.Up/Do", None) is None


async def test_a_stream_whose_reader_leaves_is_closed_at_once() -> None:
    closed = []

    async def count(request: object, context: Any) -> AsyncIterator[int]:
        try:
            for number in range(100):
                yield number
        finally:
            closed.append(True)

    seen = Seen({})
    handler: Any = grpc.unary_stream_rpc_method_handler(count)
    surrounded = await resolve(seen, "/a.Service/Count", handler)
    context = Writes(hang_at=3)
    call = asyncio.create_task(surrounded.unary_stream(None, context))
    await context.hangs.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert context.messages == [0, 1, 2]
    assert closed == [True]


@pytest.mark.parametrize(
    ("error", "code", "remaining", "expected"),
    [
        (None, None, None, "OK"),
        (None, grpc.StatusCode.NOT_FOUND, None, "NOT_FOUND"),
        (grpc.aio.AbortError(), grpc.StatusCode.INTERNAL, None, "INTERNAL"),
        (asyncio.CancelledError(), None, None, "CANCELLED"),
        (asyncio.CancelledError(), None, 5.0, "CANCELLED"),
        (asyncio.CancelledError(), None, 0, "DEADLINE_EXCEEDED"),
        (grpc.aio.InternalError(), None, 5.0, "CANCELLED"),
        (RuntimeError(), None, None, "UNKNOWN"),
    ],
)
def test_how_a_call_ends(
    error: BaseException | None, code: Any, remaining: float | None, expected: str
) -> None:
    context: Any = SimpleNamespace(code=lambda: code, time_remaining=lambda: remaining)
    assert outcome(context, error) is grpc.StatusCode[expected]
