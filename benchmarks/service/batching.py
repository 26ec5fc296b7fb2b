"""Dynamic batching: what waits is decoded together as soon as the engine has a worker free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

Ids = tuple[int, ...]
Decode = Callable[[Sequence[Ids], int], list[list[int]]]
"""Sources and a beam size to outputs; called on a worker's thread."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How batches are made up.

    Attributes:
        tokens: most source tokens of a batch, padding counted.
        wait_seconds: how long a batch that isn't full waits for more, once a worker is free.
    """

    tokens: int
    wait_seconds: float = 0.002


@dataclass(frozen=True, slots=True)
class Waiting:
    """A source that waits for its output."""

    source: Ids
    beam_size: int
    output: asyncio.Future[list[int]]


class DynamicBatcher:
    """Collects single sources into batches.

    A batch is built round the source that has waited longest, of those that are nearest to it in
    length: so little is padded, and nobody is passed over for ever.
    """

    def __init__(self, decode: Decode, workers: int, limits: BatchLimits) -> None:
        """Prepare; `run` does the work.

        Args:
            decode: the engine; `workers` threads call it at the same time.
            workers: batches that are decoded at the same time.
            limits: of a batch.
        """
        self._decode = decode
        self._limits = limits
        self._queue: list[Waiting] = []
        self._arrived = asyncio.Event()
        self._free = asyncio.Semaphore(workers)
        self._pool = ThreadPoolExecutor(workers)
        self._running: set[asyncio.Task[None]] = set()

    async def translate(self, source: Ids, beam_size: int) -> list[int]:
        """Wait for the output of one source; when cancelled before its turn, it costs nothing."""
        output: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._queue.append(Waiting(source, beam_size, output))
        self._arrived.set()
        return await output

    async def run(self) -> None:
        """Make batches until cancelled."""
        while True:
            await self._free.acquire()
            await self._wait_for_some()
            batch = self._take()
            if not batch:
                self._free.release()
                continue
            task = asyncio.create_task(self._work(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _wait_for_some(self) -> None:
        while not self._queue:
            self._arrived.clear()
            await self._arrived.wait()
        if padded_tokens(self._queue) < self._limits.tokens:
            await asyncio.sleep(self._limits.wait_seconds)

    def _take(self) -> list[Waiting]:
        self._queue = [each for each in self._queue if not each.output.done()]
        batch = choose(self._queue, self._limits.tokens)
        chosen = set(map(id, batch))
        self._queue = [each for each in self._queue if id(each) not in chosen]
        return batch

    async def _work(self, batch: list[Waiting]) -> None:
        sources = [each.source for each in batch]
        loop = asyncio.get_running_loop()
        try:
            outputs = await loop.run_in_executor(
                self._pool, self._decode, sources, batch[0].beam_size
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the callers must hear of it
            for each in batch:
                if not each.output.done():
                    each.output.set_exception(error)
        else:
            for each, output in zip(batch, outputs, strict=True):
                if not each.output.done():
                    each.output.set_result(output)
        finally:
            self._free.release()


def choose(queue: Sequence[Waiting], tokens: int) -> list[Waiting]:
    """Choose a batch round the first in the queue, nearest lengths first, within `tokens`."""
    if not queue:
        return []
    first = queue[0]
    length = len(first.source)
    alike = [each for each in queue[1:] if each.beam_size == first.beam_size]
    nearest = sorted(alike, key=lambda each: abs(len(each.source) - length))
    batch, widest = [first], length
    for each in nearest:
        width = max(widest, len(each.source))
        if width * (len(batch) + 1) > tokens:
            break
        batch.append(each)
        widest = width
    return batch


def padded_tokens(queue: Sequence[Waiting]) -> int:
    """Give the source tokens of a batch of them all, padding counted."""
    return max((len(each.source) for each in queue), default=0) * len(queue)
