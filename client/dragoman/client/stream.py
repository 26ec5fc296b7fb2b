"""A streamed translation for ordinary, blocking code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Self

import grpc

from dragoman.client._base_stream import BaseStream
from dragoman.client._call import Call, Stubs
from dragoman.client._forks import forks
from dragoman.client.errors import CancelledError
from dragoman.client.results import Chunk
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


class TranslationStream(BaseStream, Iterator[Chunk]):
    """The pieces of one translation, in order; `Client.stream` makes it.

    >>> with client.stream("Good morning.") as stream:
    ...     for chunk in stream:
    ...         print(chunk.text, end="", flush=True)
    ...     print(stream.result.finish_reason)

    Dropping it, or leaving its ``with`` statement, before the end cancels the call. Only one
    thread at a time may read it; any may cancel it.
    """

    def __init__(self, call: Call[StreamTranslateTextResponse], stubs: Callable[[], Stubs]) -> None:
        super().__init__(call, stubs)
        self._token = object()

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
                failure = self._call.explain(self._call.failure(error))
                time.sleep(self._pause_after(failure, error))
            else:
                return message

    def _start(self) -> None:
        super()._start()
        forks.begin(self._token)

    def _end(self) -> None:
        super()._end()
        forks.end(self._token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.cancel()

    def __del__(self) -> None:
        # At the end of Python a thread of gRPC may stand still with the lock of the call.
        if not sys.is_finalizing():
            self.cancel()
