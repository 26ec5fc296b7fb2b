"""What stands behind the services: a loaded engine, or the reason why there is none."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from dragoman.engine import Engine, EngineError
from dragoman.server.errors import CallError, NotReadyError
from dragoman.server.reading import Reader
from dragoman.server.runs import Runner
from dragoman.v1 import model_pb2

INLINE_BYTES = 4096
"""Requests up to this size are read on the event loop: handing them over would take longer."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backend:
    """Everything that a service needs of one loaded model.

    Attributes:
        engine: the running engine.
        model: how the contract describes it.
        reader: reads requests for it.
        runner: runs them.
        tokenizers: threads for reading long texts, which would hold up the loop.
    """

    engine: Engine
    model: model_pb2.Model
    reader: Reader
    runner: Runner
    tokenizers: Executor

    async def read(self, size: int, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `read`, on another thread where the request has many bytes."""
        if size <= INLINE_BYTES:
            return read(*args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.tokenizers, lambda: read(*args, **kwargs))


class Gate:
    """Lets calls through to the backend, or says why not: not ready, draining, failed."""

    def __init__(self) -> None:
        self._backend: Backend | None = None
        self._refusal: Callable[[], CallError | EngineError] = NotReadyError

    def open(self, backend: Backend) -> None:
        """Let calls through from now on."""
        self._backend = backend

    def shut(self, refusal: Callable[[], CallError | EngineError]) -> None:
        """Refuse calls from now on with the error that `refusal` makes."""
        self._backend = None
        self._refusal = refusal

    def backend(self) -> Backend:
        """The backend.

        Raises:
            CallError, EngineError: there is none now.
        """
        if self._backend is None:
            raise self._refusal()
        return self._backend
