"""A streamed translation for ordinary, blocking code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NoReturn, Self

import grpc

from dragoman.client._assembly import Assembly
from dragoman.client._calls import Call, Stubs
from dragoman.client._forks import forks
from dragoman.client.errors import CancelledError, DragomanError
from dragoman.client.results import Chunk, Translation
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


class TranslationStream(Iterator[Chunk]):
    """The pieces of one translation, in order; `Client.stream` makes it.

    >>> with client.stream("Good morning.") as stream:
    ...     for chunk in stream:
    ...         print(chunk.text, end="", flush=True)
    ...     print(stream.result.finish_reason)

    Dropping it, or leaving its ``with`` statement, before the end cancels the call. Only one
    thread at a time may read it; any may cancel it.
    """

    def __init__(self, call: Call[StreamTranslateTextResponse], stubs: Callable[[], Stubs]) -> None:
        self._call = call
        self._stubs = stubs
        self._assembly = Assembly()
        self._reading: Any = None
        self._pid = os.getpid()
        self._token = object()
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

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk:
        """The next chunk.

        Raises:
            DragomanError: the call failed; `partial_text` holds what came before.
        """
        while not self._ended:
            message = self._read()
            if message is None:
                self._end()
                self._assembly.end()
            elif chunk := self._assembly.add(message):
                return chunk
        raise StopIteration

    def cancel(self) -> None:
        """End the call now; the next chunk then is a `CancelledError`. May be repeated."""
        self._cancelled = True
        if self._reading is None:
            return
        if self._pid == os.getpid():
            self._reading.cancel()
        else:
            forks.keep(self._reading)
        forks.end(self._token)

    def _read(self) -> StreamTranslateTextResponse | None:
        while True:
            if self._cancelled:
                self._fail(CancelledError("the stream was cancelled"))
            try:
                if self._reading is None:
                    self._start()
                message: StreamTranslateTextResponse | None = next(self._reading, None)
            except grpc.RpcError as error:
                time.sleep(self._pause_after(error))
            else:
                return message

    def _start(self) -> None:
        self._pid = os.getpid()
        self._reading = self._call.start(self._stubs())
        forks.begin(self._token)

    def _pause_after(self, error: grpc.RpcError) -> float:
        failure = self._call.explain(self._call.failure(error))
        pause = None if self._assembly.started else self._call.attempts.pause_after(failure)
        if pause is None:
            self._fail(failure, error)
        self._reading = None
        return pause

    def _end(self) -> None:
        self._ended = True
        forks.end(self._token)

    def _fail(self, failure: DragomanError, cause: BaseException | None = None) -> NoReturn:
        self._end()
        raise self._assembly.marked(failure) from cause

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()

    def __del__(self) -> None:
        # At the end of Python a thread of gRPC may stand still with the lock of the call.
        if not sys.is_finalizing():
            self.cancel()
