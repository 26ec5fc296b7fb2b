"""A streamed translation for asyncio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, Self

import grpc
import grpc.aio

from dragoman.client._base_stream import BaseStream
from dragoman.client._call import Call, Stubs
from dragoman.client._cancelling import explained, is_task_cancelled
from dragoman.client._forks import forks
from dragoman.client.errors import CancelledError, ClientClosedError
from dragoman.client.results import Chunk
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


class AsyncTranslationStream(BaseStream, AsyncIterator[Chunk]):
    """The pieces of one translation, in order; `AsyncClient.stream` makes it.

    >>> async with client.stream("Good morning.") as stream:
    ...     async for chunk in stream:
    ...         print(chunk.text, end="", flush=True)
    ...     print(stream.result.finish_reason)

    Dropping it, or leaving its ``async with`` statement, before the end cancels the call, and so
    does cancelling the task that waits for a chunk. Only one task at a time may read it.
    """

    def __init__(self, call: Call[StreamTranslateTextResponse], stubs: Callable[[], Stubs]) -> None:
        super().__init__(call, stubs)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        """The next chunk.

        Raises:
            DragomanError: the call failed; `partial_text` holds what came before.
        """
        while not self._ended:
            message = await self._read()
            if message is None:
                self._end()
                self._assembly.end()
            elif chunk := self._assembly.add(message):
                return chunk
        raise StopAsyncIteration

    def cancel(self) -> None:
        """End the call now; the next chunk then is a `CancelledError`. May be repeated.

        Belongs on the thread of the event loop.
        """
        self._cancelled = True
        if self._reading is not None and self._pid == os.getpid():
            self._reading.cancel()

    async def _read(self) -> StreamTranslateTextResponse | None:
        while True:
            if self._cancelled:
                self._fail(CancelledError("the stream was cancelled"))
            try:
                if self._reading is None:
                    self._start()
                message: Any = await self._reading.read()
            except asyncio.CancelledError:
                if is_task_cancelled():
                    raise
                self._fail(CancelledError("the stream was cancelled"))
            except grpc.aio.UsageError as error:
                self._fail(ClientClosedError("the channel is closed"), error)
            except grpc.RpcError as error:
                failure = await explained(self._call, error)
                await asyncio.sleep(self._pause_after(failure, error))
            else:
                return None if message is grpc.aio.EOF else message

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        super()._start()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.cancel()

    def __del__(self) -> None:
        loop, reading = self._loop, self._reading
        if loop is None or reading is None or self._ended or loop.is_closed():
            return
        if self._pid != os.getpid():
            forks.keep(reading)
            return
        # Garbage is collected on any thread.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(reading.cancel)
