"""The service beside its engine: the same texts, closed loops of 1, 8 and 32 callers, greedy.

The server runs in a process of its own and the callers in this one; the engine runs in this one
too, called directly. Rounds alternate between the two, so that a noisy machine hits both.

    python benchmarks/serving.py [--bundle DIR] [--sentences 256] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import queue
import statistics
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from dragoman.client import AsyncClient
from dragoman.engine import Engine, EngineOptions, Event, Finished, TranslationRequest
from dragoman.evaluation.serving import serving

CALLERS = (1, 8, 32)
NO_CACHES = ("--source-cache-bytes", "0", "--prefix-cache-bytes", "0")
DEV = Path(__file__).parent / "data" / "dev.tsv"


@dataclass(frozen=True, slots=True)
class Figures:
    """One run: output tokens a second, latency in milliseconds."""

    tokens_per_second: float
    median_ms: float
    p99_ms: float


def main() -> None:
    """Run the rounds and print medians."""
    arguments = parse_arguments()
    texts = read_texts(arguments.sentences)
    # The same texts come in every round: what is kept of them would leave the encoder idle.
    options = EngineOptions(source_cache_bytes=0, prefix_cache_bytes=0)
    engine = Engine.load(arguments.bundle, options)
    engine.start()
    runs: dict[tuple[str, int], list[Figures]] = {}
    with serving(arguments.bundle, NO_CACHES) as address:
        for _ in range(arguments.rounds + 1):
            for callers in CALLERS:
                run = run_engine(engine, texts, callers)
                runs.setdefault(("engine", callers), []).append(run)
                run = asyncio.run(run_service(address, texts, callers))
                runs.setdefault(("service", callers), []).append(run)
    engine.stop()
    # The first round warms both up.
    report({key: values[1:] for key, values in runs.items()}, arguments.json)


def parse_arguments() -> argparse.Namespace:
    """Read the flags."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(str(files("dragoman.server") / "models" / "en-de"))
    parser.add_argument("--bundle", type=Path, default=default)
    parser.add_argument("--sentences", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def read_texts(count: int) -> list[str]:
    """Give the first sources of the dev set."""
    lines = DEV.read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[0] for line in lines[:count]]


def run_engine(engine: Engine, texts: list[str], callers: int) -> Figures:
    """Keep `callers` requests in the engine until all texts are through."""
    begun: dict[int, float] = {}
    ended: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
    latencies: list[float] = []
    tokens = 0

    def submit(place: int) -> None:
        def on_event(event: Event) -> None:
            if not isinstance(event, Finished):
                raise TypeError(event)
            ids = event.result.hypotheses[0].token_ids  # type: ignore[union-attr]
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


async def run_service(address: str, texts: list[str], callers: int) -> Figures:
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
    sorted_ms = sorted(latency * 1000 for latency in latencies)
    p99 = sorted_ms[min(len(sorted_ms) - 1, int(0.99 * len(sorted_ms)))]
    return Figures(tokens / seconds, statistics.median(sorted_ms), p99)


def report(runs: dict[tuple[str, int], list[Figures]], path: Path | None) -> None:
    """Print medians over the rounds, and the median of the rounds' own ratios."""
    print(f"{'callers':>7}  {'':8} {'tokens/s':>9} {'median ms':>10} {'p99 ms':>8}")
    for callers in CALLERS:
        for kind in ("engine", "service"):
            rounds = runs[kind, callers]
            speed, median, p99 = (
                statistics.median(getattr(run, name) for run in rounds)
                for name in ("tokens_per_second", "median_ms", "p99_ms")
            )
            print(f"{callers:>7}  {kind:8} {speed:>9,.0f} {median:>10.1f} {p99:>8.1f}")
        ratio = statistics.median(
            service.tokens_per_second / engine.tokens_per_second
            for service, engine in zip(
                runs["service", callers], runs["engine", callers], strict=True
            )
        )
        print(f"{callers:>7}  service / engine, tokens/s: {ratio:.2f}")
    if path is not None:
        rows = {f"{kind}-{n}": [asdict(run) for run in v] for (kind, n), v in runs.items()}
        path.write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
