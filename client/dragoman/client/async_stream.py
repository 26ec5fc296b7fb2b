"""A streamed translation for asyncio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self

import grpc
import grpc.aio

from dragoman.client._assembly import Assembly
from dragoman.client._calls import Call, Stubs
from dragoman.client._cancelling import explained, is_task_cancelled
from dragoman.client._forks import forks
from dragoman.client.errors import CancelledError, ClientClosedError, DragomanError
from dragoman.client.results import Chunk, Translation
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


class AsyncTranslationStream(AsyncIterator[Chunk]):
    """The pieces of one translation, in order; `AsyncClient.stream` makes it.

    >>> async with client.stream("Good morning.") as stream:
    ...     async for chunk in stream:
    ...         print(chunk.text, end="", flush=True)
    ...     print(stream.result.finish_reason)

    Dropping it, or leaving its ``async with`` statement, before the end cancels the call, and so
    does cancelling the task that waits for a chunk. Only one task at a time may read it.
    """

    def __init__(self, call: Call[StreamTranslateTextResponse], stubs: Callable[[], Stubs]) -> None:
        self._call = call
        self._stubs = stubs
        self._assembly = Assembly()
        self._reading: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()
        self._ended = False
        self._cancelled = False

    @property
    def text(self) -> str:
        """The text so far."""
        return self._assembly.text

    @property
    def result(self) -> Translation:
        """The whole translation, once the last chunk has been read.

        Raises:
            StreamNotEndedError: the stream has not ended yet, or it failed.
        """
        return self._assembly.result

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
                self._ended = True
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
                await asyncio.sleep(await self._pause_after(error))
            else:
                return None if message is grpc.aio.EOF else message

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pid = os.getpid()
        self._reading = self._call.start(self._stubs())

    async def _pause_after(self, error: grpc.RpcError) -> float:
        failure = await explained(self._call, error)
        pause = None if self._assembly.started else self._call.attempts.pause_after(failure)
        if pause is None:
            self._fail(failure, error)
        self._reading = None
        return pause

    def _fail(self, failure: DragomanError, cause: BaseException | None = None) -> NoReturn:
        self._ended = True
        raise self._assembly.marked(failure) from cause

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
