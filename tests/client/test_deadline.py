"""No call waits for ever, unless it is told to."""

from __future__ import annotations

import math
import socket
import time
from typing import Any

import grpc
import pytest

from dragoman.client import (
    DEFAULT_TIMEOUT,
    NOT_GIVEN,
    Client,
    DeadlineExceededError,
    InvalidArgumentError,
)
from tests.client.backend import Shouting, served, wait_until
from tests.client.conftest import Stack, texts


class Timed(Shouting):
    """Notes how much time each call has."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[float | None] = []

    def TranslateText(self, request: Any, context: Any) -> Any:
        remaining = context.time_remaining()
        self.limits.append(remaining if remaining is None or remaining < 1e6 else None)
        return super().TranslateText(request, context)


async def test_the_limit_of_a_call(stack: Stack) -> None:
    timed = Timed()
    with served(timed) as address:
        async with stack.client(address) as client:
            await client.translate("default")
            await client.translate("not given", timeout=NOT_GIVEN)
            await client.translate("own", timeout=7)
            await client.translate("none", timeout=None)
        async with stack.client(address, timeout=20) as client:
            await client.translate("the client's")
            await client.translate("none", timeout=None)
        async with stack.client(address, timeout=None) as client:
            await client.translate("none")
            await client.translate("own", timeout=9.5)
    wanted = [DEFAULT_TIMEOUT, DEFAULT_TIMEOUT, 7, None, 20, None, None, 9.5]
    assert len(timed.limits) == len(wanted)
    for limit, most in zip(timed.limits, wanted, strict=True):
        if most is None:
            assert limit is None
        else:
            assert limit is not None
            assert limit == pytest.approx(most, abs=3)


async def test_a_server_that_never_answers(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    async with stack.client(address, timeout=0.2) as client:
        with pytest.raises(DeadlineExceededError, match=rf"from {address} within 0\.2 s") as caught:
            await client.translate("one")
        with pytest.raises(DeadlineExceededError):
            await texts(await client.stream("one"))
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert wait_until(lambda: shouting.running == 0)


async def test_a_port_that_accepts_and_says_nothing(stack: Stack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with stack.client(f"127.0.0.1:{silent.getsockname()[1]}") as client:
            begun = time.monotonic()
            with pytest.raises(DeadlineExceededError):
                await client.translate("one", timeout=0.2)
            assert time.monotonic() - begun < 10


@pytest.mark.parametrize("limit", [0, -1, math.nan, math.inf])
async def test_what_is_no_limit(stack: Stack, address: str, limit: float) -> None:
    with pytest.raises(InvalidArgumentError, match=r"timeout: .* is not a time of more than 0 s"):
        Client(address, timeout=limit)
    async with stack.client(address) as client:
        with pytest.raises(InvalidArgumentError):
            await client.translate("one", timeout=limit)


def test_the_sentinel_is_not_none_and_says_its_name() -> None:
    assert NOT_GIVEN is not None
    assert repr(NOT_GIVEN) == "NOT_GIVEN"
