"""What both streams have: the translation so far, and how an attempt ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

import grpc

from dragoman.client._assembly import Assembly
from dragoman.client._call import Call, Stubs
from dragoman.client.errors import DragomanError
from dragoman.client.results import Translation
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


class BaseStream:
    """One stream; `TranslationStream` describes it."""

    def __init__(self, call: Call[StreamTranslateTextResponse], stubs: Callable[[], Stubs]) -> None:
        self._call = call
        self._stubs = stubs
        self._assembly = Assembly()
        self._reading: Any = None
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

    def _start(self) -> None:
        self._pid = os.getpid()
        self._reading = self._call.start(self._stubs())

    def _pause_after(self, failure: DragomanError, cause: grpc.RpcError) -> float:
        """Seconds until the next attempt; nothing that has been delivered is made again."""
        pause = None if self._assembly.started else self._call.attempts.pause_after(failure)
        if pause is None:
            self._fail(failure, cause)
        self._reading = None
        return pause

    def _fail(self, failure: DragomanError, cause: BaseException | None = None) -> NoReturn:
        self._end()
        raise self._assembly.marked(failure) from cause

    def _end(self) -> None:
        self._ended = True
