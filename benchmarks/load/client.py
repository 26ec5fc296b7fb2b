"""The load generator: requests go out when they are due, whatever has come back by then."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import grpc

from benchmarks.load.arrivals import Arrival, poisson
from benchmarks.load.latency import most_late, percentile
from dragoman.v1 import translation_pb2

LATEST = 2.0
"""Seconds that the 99th percentile must stay under."""

SHARE = 0.99
_METHOD = "/dragoman.v1.TranslationService/TranslateText"
_DRAIN_SECONDS = 60.0

Call = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of the requests of one rate.

    Attributes:
        rate: requests a second that were to come.
        requests: how many came.
        p50: median latency in seconds.
        p99: the latency that 99 of 100 requests kept, or all but one of fewer; infinite where
            others were given up.
        errors: answers that were errors.
        lag: median seconds by which the generator itself was late.
    """

    rate: float
    requests: int
    p50: float
    p99: float
    errors: int
    lag: float

    @property
    def borne(self) -> bool:
        """Whether the server bears the rate."""
        return self.errors == 0 and self.p99 < LATEST


class LoadClient:
    """Sends texts to a server that speaks `TranslateText`."""

    def __init__(self, address: str, texts: Sequence[str], beam_size: int) -> None:
        """Write the requests down once, so that sending them costs little."""
        options = translation_pb2.DecodingOptions(beam_size=beam_size)
        self._requests = [
            translation_pb2.TranslateTextRequest(
                contents=[text], decoding_options=options
            ).SerializeToString()
            for text in texts
        ]
        self._channel = grpc.aio.insecure_channel(address)
        self._call: Call = self._channel.unary_unary(_METHOD)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._channel.close()

    async def burst(self, number: int) -> float:
        """Send so many texts at once; give the seconds until all are answered."""
        begun = time.perf_counter()
        await asyncio.gather(*(self._call(request) for request in self._requests[:number]))
        return time.perf_counter() - begun

    async def trial(self, rate: float, seconds: float, seed: int) -> Trial:
        """Let requests come for so long; give up once too many are late, and wait for quiet."""
        arrivals = poisson(rate, seconds, len(self._requests), seed)
        trial = await _Running(self._call, self._requests, arrivals, rate).run()
        async with asyncio.timeout(_DRAIN_SECONDS):
            await self._call(self._requests[0], wait_for_ready=True)
        return trial


class _Running:
    """One trial while it lasts."""

    def __init__(
        self, call: Call, requests: Sequence[bytes], arrivals: Sequence[Arrival], rate: float
    ) -> None:
        self._call = call
        self._requests = requests
        self._arrivals = arrivals
        self._rate = rate
        self._latencies: list[float] = []
        self._lags: list[float] = []
        self._errors = 0
        self._late = 0
        self._may_be_late = most_late(len(arrivals), SHARE)
        self._lost = asyncio.Event()

    async def run(self) -> Trial:
        started = time.perf_counter()
        tasks: set[asyncio.Task[None]] = set()
        for arrival in self._arrivals:
            due = started + arrival.seconds
            # Also where it is late already: what was begun before must get its turn.
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if self._lost.is_set():
                break
            tasks.add(asyncio.create_task(self._send(self._requests[arrival.text], due)))
        lost = asyncio.create_task(self._lost.wait())
        running = set(tasks)
        while running and not lost.done():
            done, _ = await asyncio.wait({lost, *running}, return_when=asyncio.FIRST_COMPLETED)
            running -= done
        for task in (lost, *running):
            task.cancel()
        await asyncio.gather(lost, *tasks, return_exceptions=True)
        return self._summed_up()

    async def _send(self, request: bytes, due: float) -> None:
        self._lags.append(time.perf_counter() - due)
        overdue = asyncio.get_running_loop().call_later(
            max(0.0, due + LATEST - time.perf_counter()), self._count_late
        )
        try:
            await self._call(request)
            self._latencies.append(time.perf_counter() - due)
        except grpc.aio.AioRpcError:
            self._errors += 1
            self._lost.set()
        finally:
            overdue.cancel()

    def _count_late(self) -> None:
        self._late += 1
        if self._late > self._may_be_late:
            self._lost.set()

    def _summed_up(self) -> Trial:
        missing = len(self._arrivals) - len(self._latencies)
        latencies = [*self._latencies, *[math.inf] * missing]
        return Trial(
            rate=self._rate,
            requests=len(self._arrivals),
            p50=percentile(latencies, 0.5),
            p99=sorted(latencies)[max(0, len(latencies) - 1 - self._may_be_late)],
            errors=self._errors,
            lag=percentile(self._lags, 0.5),
        )
