"""The service beside its engine: the same texts, closed loops of 1, 8 and 32 callers, greedy.

    python -m benchmarks.serving [--rounds N] [--quick] [--json FILE]

The server runs in a process of its own and the callers, through the SDK, in this one; the engine
runs in this one too, called directly. Rounds alternate between the two, so that a noisy machine
hits both, and a figure is the median of the rounds' own ratios of output tokens a second.
"""

from __future__ import annotations

import asyncio
import queue
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmarks.jobs import dev_texts
from benchmarks.load.latency import percentile
from benchmarks.machine import pin
from benchmarks.models import DEFAULT_BUNDLE
from benchmarks.options import Options, command
from benchmarks.rows import Row
from dragoman.client import AsyncClient
from dragoman.engine import (
    Engine,
    EngineOptions,
    Event,
    Finished,
    TranslationRequest,
    TranslationResult,
)
from dragoman.evaluation.serving import serving

CALLERS = (1, 8, 32)
NO_CACHES = ("--source-cache-bytes", "0", "--prefix-cache-bytes", "0")
_JUDGED = 8


@dataclass(frozen=True, slots=True)
class Figures:
    """One run: output tokens a second, latency in milliseconds."""

    tokens_per_second: float
    median_ms: float
    p99_ms: float


def measure(options: Options) -> list[Row]:
    """Give a row for each number of callers."""
    pin(2)
    texts = dev_texts()[: 32 if options.quick else 256]
    # The same texts come in every round: what is kept of them would leave the encoder idle.
    engine = Engine.load(DEFAULT_BUNDLE, EngineOptions(source_cache_bytes=0, prefix_cache_bytes=0))
    engine.start()
    runs: dict[int, list[tuple[Figures, Figures]]] = {callers: [] for callers in CALLERS}
    with serving(DEFAULT_BUNDLE, NO_CACHES) as address:
        # The first round warms both up.
        for _ in range(options.pick_rounds(5) + 1):
            for callers, pairs in runs.items():
                direct = run_engine(engine, texts, callers)
                pairs.append((direct, asyncio.run(run_service(address, texts, callers))))
    engine.stop()
    return [_row(callers, pairs[1:]) for callers, pairs in runs.items()]


def run_engine(engine: Engine, texts: Sequence[str], callers: int) -> Figures:
    """Keep `callers` requests in the engine until all texts are through."""
    begun: dict[int, float] = {}
    ended: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
    latencies: list[float] = []
    tokens = 0

    def submit(place: int) -> None:
        def on_event(event: Event) -> None:
            if not isinstance(event, Finished) or not isinstance(event.result, TranslationResult):
                raise TypeError(event)
            ids = event.result.hypotheses[0].token_ids
            ended.put((place, len(ids)))
            engine.tokenizer.decode(ids)

        begun[place] = time.perf_counter()
        source = engine.tokenizer.encode_source(texts[place])
        engine.submit(TranslationRequest(source), on_event)

    started = time.perf_counter()
    for place in range(min(callers, len(texts))):
        submit(place)
    following = iter(range(callers, len(texts)))
    for _ in texts:
        place, count = ended.get()
        latencies.append(time.perf_counter() - begun[place])
        tokens += count
        if (successor := next(following, None)) is not None:
            submit(successor)
    return figures(tokens, time.perf_counter() - started, latencies)


async def run_service(address: str, texts: Sequence[str], callers: int) -> Figures:
    """Let `callers` tasks translate text after text until all are through."""
    latencies: list[float] = []
    tokens = 0
    waiting = iter(texts)

    async def caller(client: AsyncClient) -> None:
        nonlocal tokens
        for text in waiting:
            begun = time.perf_counter()
            translation = await client.translate(text, beam_size=1)
            latencies.append(time.perf_counter() - begun)
            tokens += translation.target_token_count

    async with AsyncClient(address) as client:
        await client.translate("Warm.", beam_size=1)
        started = time.perf_counter()
        await asyncio.gather(*(caller(client) for _ in range(callers)))
        return figures(tokens, time.perf_counter() - started, latencies)


def figures(tokens: int, seconds: float, latencies: Iterable[float]) -> Figures:
    """Sum a run up."""
    milliseconds = [latency * 1000 for latency in latencies]
    return Figures(
        tokens / seconds, statistics.median(milliseconds), percentile(milliseconds, 0.99)
    )


def _row(callers: int, pairs: Sequence[tuple[Figures, Figures]]) -> Row:
    ratios = [service.tokens_per_second / direct.tokens_per_second for direct, service in pairs]
    return Row(
        measure=f"service, {callers} callers at a time, greedy: tokens/s",
        model="a",
        against="the engine, called directly",
        figure=statistics.median(ratios),
        bar=0.87 if callers == _JUDGED else None,
        better="higher",
        details={
            "rounds": len(pairs),
            "engine": _medians([direct for direct, _ in pairs]),
            "service": _medians([service for _, service in pairs]),
        },
    )


def _medians(runs: Sequence[Figures]) -> dict[str, Any]:
    names = [each.name for each in fields(Figures)]
    return {name: statistics.median(asdict(run)[name] for run in runs) for name in names}


if __name__ == "__main__":
    command(measure, __doc__)
