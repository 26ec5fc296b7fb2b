import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from dragoman.engine import EngineFailedError
from dragoman.server.backend import INLINE_BYTES, Backend, Gate
from dragoman.server.errors import DrainingError, NotReadyError


def with_threads(pool: ThreadPoolExecutor) -> Backend:
    nothing: Any = None
    return Backend(nothing, nothing, nothing, nothing, pool)


async def test_short_requests_are_read_here_long_ones_elsewhere() -> None:
    with ThreadPoolExecutor(1) as pool:
        backend = with_threads(pool)
        here = threading.current_thread()
        assert await backend.read(INLINE_BYTES, threading.current_thread) is here
        assert await backend.read(INLINE_BYTES + 1, threading.current_thread) is not here


async def test_errors_of_reading_come_through() -> None:
    def refuse() -> None:
        raise DrainingError

    with ThreadPoolExecutor(1) as pool:
        backend = with_threads(pool)
        with pytest.raises(DrainingError):
            await backend.read(INLINE_BYTES + 1, refuse)


def test_a_gate_lets_through_or_says_why_not() -> None:
    gate = Gate()
    with pytest.raises(NotReadyError):
        gate.backend()
    backend = cast(Backend, object())
    gate.open(backend)
    assert gate.backend() is backend
    gate.shut(lambda: EngineFailedError("broken"))
    with pytest.raises(EngineFailedError) as first:
        gate.backend()
    with pytest.raises(EngineFailedError) as second:
        gate.backend()
    assert first.value is not second.value
