"""What is tried again, how often, and when it stops."""

from __future__ import annotations

import json
import time

import grpc
import pytest

from dragoman.client import (
    DeadlineExceededError,
    DragomanError,
    InternalError,
    MessageTooLargeError,
    OverloadedError,
    UnavailableError,
    UnreachableError,
)
from dragoman.client._retry import Attempts
from dragoman.client._settings import service_config
from tests.client.backend import (
    Failure,
    Shouting,
    draining,
    free_port,
    internal,
    queue_full,
    served,
)
from tests.client.conftest import Stack


class Clock:
    """Time that passes when told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def attempts(
    clock: Clock, timeout: float | None = 10, count: int = 3, jitter: float = 0
) -> Attempts:
    return Attempts(timeout, count, clock=clock, jitter=lambda: jitter)


@pytest.mark.parametrize(("jitter", "pause"), [(0.0, 2.0), (0.5, 2.5), (0.999, 2.999)])
def test_the_pause_is_what_the_server_says_and_up_to_half_more(
    clock: Clock, jitter: float, pause: float
) -> None:
    failure = OverloadedError("full", retry_after=2)
    assert attempts(clock, jitter=jitter).pause_after(failure) == pytest.approx(pause)


def test_a_pause_is_never_nothing(clock: Clock) -> None:
    assert attempts(clock).pause_after(OverloadedError("full", retry_after=0)) == 0.05


@pytest.mark.parametrize(
    "failure",
    [
        OverloadedError("full"),
        UnavailableError("draining", retry_after=1),
        MessageTooLargeError("big"),
        InternalError("boom"),
        DragomanError("other"),
    ],
)
def test_only_an_overload_with_a_time_is_tried_again(clock: Clock, failure: DragomanError) -> None:
    assert attempts(clock).pause_after(failure) is None


def test_the_number_of_attempts_is_bounded(clock: Clock) -> None:
    failure, trying = OverloadedError("full", retry_after=1), attempts(clock, None, 3)
    assert [trying.pause_after(failure) for _ in range(3)] == [1, 1, None]


def test_no_pause_outlasts_the_deadline(clock: Clock) -> None:
    trying = attempts(clock, timeout=4, count=9)
    assert trying.pause_after(OverloadedError("full", retry_after=3)) == 3
    clock.now += 3
    assert trying.remaining() == 1
    assert trying.pause_after(OverloadedError("full", retry_after=1)) is None
    clock.now += 3
    assert trying.remaining() == 0


def test_the_service_config_applies_to_every_method() -> None:
    config = json.loads(service_config(5))
    (method,) = config["methodConfig"]
    assert method["name"] == [{}]
    assert method["retryPolicy"]["maxAttempts"] == 5
    assert method["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert "retryPolicy" not in json.loads(service_config(1))["methodConfig"][0]


@pytest.mark.parametrize("count", [1, 2, 5])
async def test_unavailable_is_tried_as_often_as_allowed(
    stack: Stack, address: str, shouting: Shouting, count: int
) -> None:
    shouting.failures += [draining(5)] * 10
    async with stack.client(address, max_attempts=count) as client:
        with pytest.raises(UnavailableError) as caught:
            await client.translate("one")
    assert len(shouting.requests) == count
    assert caught.value.retry_after == 1
    assert type(caught.value) is UnavailableError


async def test_unavailable_for_a_while_goes_unnoticed(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.failures += [draining(), Failure(grpc.StatusCode.UNAVAILABLE)]
    async with stack.client(address) as client:
        assert (await client.translate("one")).text == "ONE"
    assert len(shouting.requests) == 3


async def test_a_large_request_is_retried_too(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.failures += [draining(5)]
    texts = ["x" * 100_000] * 20
    async with stack.client(address) as client:
        assert len(await client.translate(texts)) == 20
    assert len(shouting.requests) == 2


async def test_an_overload_is_tried_again_when_the_server_says(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.failures += [queue_full(0.1), queue_full(0.1)]
    async with stack.client(address) as client:
        begun = time.monotonic()
        assert (await client.translate("one")).text == "ONE"
        elapsed = time.monotonic() - begun
    assert len(shouting.requests) == 3
    assert elapsed >= 0.2


@pytest.mark.parametrize("count", [1, 3, 5])
async def test_an_overload_without_end(
    stack: Stack, address: str, shouting: Shouting, count: int
) -> None:
    shouting.failures += [queue_full(0.01)] * 10
    async with stack.client(address, max_attempts=count) as client:
        with pytest.raises(OverloadedError) as caught:
            await client.translate("one")
    assert len(shouting.requests) == count
    assert caught.value.retry_after == 0.01


async def test_an_overload_without_a_time_is_not_tried_again(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.failures += [queue_full(None), Failure(grpc.StatusCode.RESOURCE_EXHAUSTED)]
    async with stack.client(address) as client:
        for _ in range(2):
            with pytest.raises(OverloadedError):
                await client.translate("one")
    assert len(shouting.requests) == 2


async def test_an_overload_that_outlasts_the_deadline_fails_at_once(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.failures += [queue_full(30)]
    async with stack.client(address, timeout=20) as client:
        begun = time.monotonic()
        with pytest.raises(OverloadedError):
            await client.translate("one")
        assert time.monotonic() - begun < 10
    assert len(shouting.requests) == 1


@pytest.mark.parametrize(
    "failure", [internal("x"), Failure(grpc.StatusCode.ABORTED), Failure(grpc.StatusCode.UNKNOWN)]
)
async def test_nothing_else_is_tried_again(
    stack: Stack, address: str, shouting: Shouting, failure: Failure
) -> None:
    shouting.failures += [failure] * 3
    async with stack.client(address) as client:
        with pytest.raises(DragomanError):
            await client.translate("one")
    assert len(shouting.requests) == 1


async def test_too_large_a_message_is_not_tried_again(stack: Stack, shouting: Shouting) -> None:
    with served(shouting, max_message_bytes=1000) as address:
        async with stack.client(address) as client:
            with pytest.raises(MessageTooLargeError, match="larger than max"):
                await client.translate("x" * 2000)
    assert shouting.requests == []


async def test_nobody_listens(stack: Stack) -> None:
    async with stack.client(f"127.0.0.1:{free_port()}") as client:
        with pytest.raises(UnreachableError, match=r"cannot reach 127\.0\.0\.1:\d+: ") as caught:
            await client.translate("one")
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE
    assert caught.value.retry_after is None


async def test_a_server_that_comes_up_late_is_found(stack: Stack, shouting: Shouting) -> None:
    port = free_port()
    async with stack.client(f"127.0.0.1:{port}") as client:
        with pytest.raises((UnreachableError, DeadlineExceededError)):
            await client.translate("one", timeout=0.2)
        with served(shouting, port=port):
            assert (await client.translate("one")).text == "ONE"


async def test_a_server_that_restarts_is_found_again(stack: Stack, shouting: Shouting) -> None:
    port = free_port()
    async with stack.client(f"127.0.0.1:{port}") as client:
        for _ in range(2):
            with served(shouting, port=port):
                assert (await client.translate("one")).text == "ONE"
