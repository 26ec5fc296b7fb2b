"""`stream`: chunks, the result at the end, and every way in which a stream can end early."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import grpc
import pytest

from dragoman.client import (
    AsyncClient,
    CancelledError,
    Client,
    DeadlineExceededError,
    DragomanError,
    FinishReason,
    InternalError,
    OverloadedError,
    ProtocolError,
    StreamNotEndedError,
    Translation,
    UnavailableError,
)
from dragoman.v1 import translation_pb2
from tests.client.backend import (
    MODEL,
    Failure,
    Shouting,
    draining,
    internal,
    invalid,
    queue_full,
    served,
    wait_until,
)
from tests.client.conftest import Stack, following, texts


async def test_the_chunks_and_the_result(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        stream = await client.stream("one two three")
        assert stream.text == ""
        assert await following(stream) == "ONE"
        assert stream.text == "ONE"
        with pytest.raises(StreamNotEndedError):
            _ = stream.result
        assert await texts(stream) == [" TWO", " THREE"]
        assert stream.text == "ONE TWO THREE"
        assert stream.result == Translation(
            text="ONE TWO THREE",
            log_probability=-0.5,
            finish_reason=FinishReason.STOP,
            source_token_count=2,
            target_token_count=1,
            model=MODEL,
        )
        assert await following(stream) is None


async def test_an_empty_text_gives_no_chunk_and_a_result(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        stream = await client.stream("")
        assert await texts(stream) == []
        assert stream.result.text == ""


async def test_nothing_is_sent_before_the_first_chunk_is_asked_for(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    async with stack.client(address) as client:
        await client.stream("one")
    assert shouting.requests == []


@pytest.mark.parametrize("wrong", [None, 5, b"x", ["one"]])
async def test_only_a_text_can_be_streamed(stack: Stack, address: str, wrong: Any) -> None:
    async with stack.client(address) as client:
        with pytest.raises(TypeError, match="content must be a str"):
            await client.stream(wrong)


async def test_a_broken_stream_is_not_begun_again_and_its_text_is_kept(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.break_after = 3
    async with stack.client(address) as client:
        stream = await client.stream("one two three")
        assert [await following(stream), await following(stream)] == ["ONE", " TWO"]
        with pytest.raises(UnavailableError) as caught:
            await following(stream)
        assert caught.value.partial_text == stream.text == "ONE TWO"
        assert caught.value.code is grpc.StatusCode.UNAVAILABLE
        assert await following(stream) is None
        with pytest.raises(StreamNotEndedError):
            _ = stream.result
    assert len(shouting.requests) == 1


async def test_an_overload_in_the_middle_is_not_retried(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.break_after, shouting.break_with = 1, queue_full()
    async with stack.client(address) as client:
        with pytest.raises(OverloadedError) as caught:
            await texts(await client.stream("one two"))
    assert caught.value.partial_text == "ONE"
    assert len(shouting.requests) == 1


@pytest.mark.parametrize("failure", [queue_full(0.01), draining(10)])
async def test_a_failure_before_the_first_chunk_is_retried(
    stack: Stack, address: str, shouting: Shouting, failure: Failure
) -> None:
    shouting.failures += [failure, failure]
    async with stack.client(address) as client:
        assert await texts(await client.stream("one two")) == ["ONE", " TWO"]
    assert len(shouting.requests) == 3


async def test_other_failures_are_not_retried(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.failures += [internal("feed"), invalid(("content", "too long"))]
    async with stack.client(address) as client:
        with pytest.raises(InternalError) as caught:
            await texts(await client.stream("one"))
        assert caught.value.partial_text == ""
        with pytest.raises(ValueError, match="no good"):
            await texts(await client.stream("one"))
    assert len(shouting.requests) == 2


class Hasty(Shouting):
    """Forgets to say how it ended."""

    def StreamTranslateText(self, request: Any, context: Any) -> Any:
        yield translation_pb2.StreamTranslateTextResponse(text_delta="A")


async def test_a_stream_without_a_summary_is_an_error(stack: Stack) -> None:
    with served(Hasty()) as address:
        async with stack.client(address) as client:
            stream = await client.stream("a")
            assert await following(stream) == "A"
            with pytest.raises(ProtocolError, match="without a summary") as caught:
                await following(stream)
    assert caught.value.partial_text == "A"


async def test_cancel(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.patience = 5
    async with stack.client(address) as client:
        stream = await client.stream("one two")
        assert await following(stream) == "ONE"
        stream.cancel()
        stream.cancel()
        with pytest.raises(CancelledError) as caught:
            await following(stream)
        assert caught.value.code is grpc.StatusCode.CANCELLED
        assert caught.value.partial_text == "ONE"
        assert await following(stream) is None
        assert wait_until(lambda: shouting.running == 0)


async def test_cancel_before_the_first_chunk(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    async with stack.client(address) as client:
        stream = await client.stream("one")
        stream.cancel()
        with pytest.raises(CancelledError):
            await following(stream)
    assert shouting.requests == []


async def test_the_server_cancels(stack: Stack, address: str, shouting: Shouting) -> None:
    cancelled = Failure(grpc.StatusCode.CANCELLED, "no more", "CANCELLED")
    shouting.failures += [cancelled, cancelled]
    async with stack.client(address) as client:
        with pytest.raises(CancelledError) as caught:
            await texts(await client.stream("one"))
        assert caught.value.code is grpc.StatusCode.CANCELLED
        with pytest.raises(CancelledError):
            await client.translate("one")


async def test_the_deadline_covers_the_whole_stream(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    shouting.patience = 5
    async with stack.client(address) as client:
        stream = await client.stream("one two", timeout=0.3)
        assert await following(stream) == "ONE"
        with pytest.raises(DeadlineExceededError, match=r"within 0\.3 s") as caught:
            await following(stream)
    assert caught.value.partial_text == "ONE"
    assert wait_until(lambda: shouting.running == 0)


def test_an_abandoned_loop_cancels_the_call(address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    with Client(address) as client:
        for _ in range(100):
            for chunk in client.stream("one two"):
                assert chunk.text == "ONE"
                break
        assert wait_until(lambda: shouting.running == 0)
        assert client.translate("well").text == "WELL"
    assert len(shouting.requests) == 101


async def test_an_abandoned_asyncio_loop_cancels_the_call(address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    async with AsyncClient(address) as client:
        for _ in range(100):
            async for chunk in client.stream("one two"):
                assert chunk.text == "ONE"
                break
        assert await asyncio.to_thread(wait_until, lambda: shouting.running == 0)
        assert (await client.translate("well")).text == "WELL"


async def test_a_stream_dropped_on_another_thread_cancels_the_call(
    address: str, shouting: Shouting
) -> None:
    shouting.patience = 60
    async with AsyncClient(address) as client:
        held = [client.stream("one two")]
        assert (await anext(held[0])).text == "ONE"
        await asyncio.to_thread(held.clear)
        assert await asyncio.to_thread(wait_until, lambda: shouting.running == 0)


async def test_a_stream_that_outlives_its_loop_is_dropped_in_silence(address: str) -> None:
    held: list[Any] = []

    async def begin() -> None:
        async with AsyncClient(address) as client:
            stream = client.stream("one two")
            await anext(stream)
            held.append(stream)

    await asyncio.to_thread(asyncio.run, begin())
    held.clear()
    gc.collect()


def test_leaving_the_with_statement_cancels(address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    with Client(address) as client:
        with client.stream("one two") as stream:
            next(stream)
        assert wait_until(lambda: shouting.running == 0)
        shouting.patience = 0
        with client.stream("one") as ended:
            assert [chunk.text for chunk in ended] == ["ONE"]
        assert ended.result.text == "ONE"


async def test_leaving_the_async_with_statement_cancels(address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    async with AsyncClient(address) as client:
        async with client.stream("one two") as stream:
            await anext(stream)
        assert await asyncio.to_thread(wait_until, lambda: shouting.running == 0)


def test_another_thread_cancels_a_blocked_reader(address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    with Client(address) as client:
        stream = client.stream("one two")
        next(stream)
        timer = threading.Timer(0.1, stream.cancel)
        timer.start()
        with pytest.raises(CancelledError):
            next(stream)
        timer.join()


async def test_closing_the_client_cancels(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    async with stack.client(address) as client:
        stream = await client.stream("one two")
        assert await following(stream) == "ONE"
        await client.close()
        with pytest.raises(CancelledError) as caught:
            await following(stream)
    assert caught.value.partial_text == "ONE"
    assert wait_until(lambda: shouting.running == 0)


async def test_a_cancelled_task_cancels_its_call(address: str, shouting: Shouting) -> None:
    shouting.patience = 60
    async with AsyncClient(address) as client:
        stream = client.stream("one two")
        assert (await anext(stream)).text == "ONE"
        task = asyncio.create_task(anext(stream))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(wait_until, lambda: shouting.running == 0)
        with pytest.raises(CancelledError):
            await anext(stream)


async def test_waiting_with_a_limit_gives_a_plain_timeout(address: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    async with AsyncClient(address) as client:
        with pytest.raises(TimeoutError) as caught:
            await asyncio.wait_for(client.translate("one"), 0.1)
        assert not isinstance(caught.value, DragomanError)
        assert await asyncio.to_thread(wait_until, lambda: shouting.running == 0)


async def test_streams_share_a_connection(address: str) -> None:
    async def joined(client: AsyncClient, text: str) -> str:
        return "".join([chunk.text async for chunk in client.stream(text)])

    async with AsyncClient(address) as client:
        wanted = [f"text number {index}" for index in range(8)]
        received = await asyncio.gather(*(joined(client, text) for text in wanted))
    assert received == [text.upper() for text in wanted]


def test_a_stream_of_a_closed_client(address: str) -> None:
    client = Client(address)
    stream = client.stream("one")
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        next(stream)
