"""The dynamic batching that is put round other engines: a peer that must not be a weak one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from benchmarks.service.batching import BatchLimits, DynamicBatcher, Ids, Waiting, choose


def waiting(length: int, beam_size: int = 1) -> Waiting:
    output: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
    return Waiting((5,) * length, beam_size, output)


async def test_a_batch_is_built_round_the_oldest() -> None:
    queue = [waiting(length) for length in (10, 50, 11, 9, 30, 10)]
    batch = choose(queue, tokens=44)
    assert batch[0] is queue[0]
    assert [len(each.source) for each in batch] == [10, 10, 11, 9]


async def test_a_batch_has_one_beam_size_and_at_least_one_source() -> None:
    queue = [waiting(100), waiting(3), waiting(100, beam_size=4)]
    assert choose(queue, tokens=50) == queue[:1]
    assert choose(queue, tokens=1000) == queue[:2]
    assert choose([], tokens=1000) == []


class Doubler:
    """An engine: gives each source twice, and notes its batches."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, sources: Sequence[Ids], beam_size: int) -> list[list[int]]:
        self.batches.append(len(sources))
        self.begun.set()
        if not self.go_on.wait(30):
            raise TimeoutError
        if any(0 in source for source in sources):
            raise ValueError("a zero")
        return [[*source, *source] for source in sources]


async def test_what_waits_while_the_engine_works_is_one_batch() -> None:
    engine = Doubler()
    batcher = DynamicBatcher(engine, 1, BatchLimits(tokens=1000, wait_seconds=0.0))
    working = asyncio.create_task(batcher.run())
    first = asyncio.create_task(batcher.translate((1,), 1))
    await asyncio.to_thread(engine.begun.wait)
    others = [asyncio.create_task(batcher.translate((n, n), 1)) for n in range(1, 6)]
    given_up = asyncio.create_task(batcher.translate((9,), 1))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    engine.go_on.set()
    assert await first == [1, 1]
    assert [await other for other in others] == [[n] * 4 for n in range(1, 6)]
    assert engine.batches == [1, 5]
    working.cancel()


async def test_a_fault_of_the_engine_reaches_its_callers_only() -> None:
    engine = Doubler()
    engine.go_on.set()
    batcher = DynamicBatcher(engine, 1, BatchLimits(tokens=1000, wait_seconds=0.0))
    working = asyncio.create_task(batcher.run())
    with pytest.raises(ValueError, match="a zero"):
        await batcher.translate((0,), 1)
    assert await batcher.translate((2,), 4) == [2, 2]
    working.cancel()
