"""What of a step is Python: everything on the engine's thread outside ONNX Runtime.

    python -m benchmarks.python_share [--rounds N] [--quick] [--json FILE]

Eight sentences of 32 tokens are decoded greedily to 32 tokens each, so that every step has eight
rows. Every run of a graph on the step loop's thread is timed by that thread's own processor clock;
with one thread a graph it computes there, and waiting costs nothing. The share is what else the
thread used between the first and the last run of a job, scheduling and answers included, by all
that it used. The same is taken by wall clock, where waiting for others counts as well.
"""

from __future__ import annotations

import queue
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import onnxruntime as ort

from benchmarks.jobs import LENGTH, Job, random_sources
from benchmarks.machine import pin
from benchmarks.models import ModelName, bundle
from benchmarks.options import Options, command
from benchmarks.peers.dragoman_engine import decoding_options
from benchmarks.rows import Row
from dragoman.engine import Engine, EngineOptions, Event, Finished, TranslationRequest

ROWS = 8
_STEPS_THREAD = "dragoman-steps-0"
_RUN = "run_with_iobinding"


@dataclass(slots=True)
class Clocks:
    """Seconds of one job on the engine's thread.

    Attributes:
        first: when its first run began, None before that; likewise `last`, when one ended.
        inside: seconds inside runs.
        runs: how many there were.
    """

    read: Callable[[], float]
    first: float | None = None
    last: float = 0.0
    inside: float = 0.0
    runs: int = 0

    def enter(self) -> float:
        """Begin a run; give the time."""
        now = self.read()
        if self.first is None:
            self.first = now
        return now

    def leave(self, entered: float) -> None:
        """End a run."""
        self.last = self.read()
        self.inside += self.last - entered
        self.runs += 1

    @property
    def share(self) -> float:
        """What was outside of runs, by everything from the first to the last."""
        assert self.first is not None
        whole = self.last - self.first
        return (whole - self.inside) / whole


def measure(options: Options) -> list[Row]:
    """Give a row for each model."""
    pin(2)
    return [measure_model(model, options) for model in ("b", "a")]


def measure_model(model: ModelName, options: Options) -> Row:
    """Give the row of one model."""
    settings = EngineOptions(
        decoder_workers=1,
        decoder_threads=1,
        encoder_threads=1,
        source_cache_bytes=0,
        prefix_cache_bytes=0,
    )
    engine = Engine.load(bundle(model), settings)
    engine.start()
    job = Job(random_sources(ROWS), forced_tokens=LENGTH)
    run_job(engine, job)
    shares: list[tuple[float, float, int]] = []
    for _ in range(options.pick_rounds(15)):
        with timed_runs() as (cpu, wall):
            run_job(engine, job)
        shares.append((cpu.share, wall.share, cpu.runs))
    engine.stop()
    cpu_share, wall_share = (100 * statistics.median(s[i] for s in shares) for i in (0, 1))
    bounded = model == "b"
    return Row(
        measure=f"Python share of a step at {ROWS} rows",
        model=model,
        against="processor time of the step loop",
        figure=cpu_share,
        unit="%",
        bar=15.0 if bounded else None,
        aim=8.0 if bounded else None,
        wall=wall_share,
        cpu=cpu_share,
        details={"rounds": len(shares), "runs_per_round": shares[0][2]},
    )


def run_job(engine: Engine, job: Job) -> None:
    """Decode a job to its end."""
    ended: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for source in job.sources:
        engine.submit(TranslationRequest(source, options=decoding_options(job)), ended.put)
    for _ in job.sources:
        if not isinstance(event := ended.get(), Finished):
            raise TypeError(event)


@contextmanager
def timed_runs() -> Iterator[tuple[Clocks, Clocks]]:
    """Time the runs of graphs on the step loop's thread; processor and wall clock."""
    cpu, wall = Clocks(time.thread_time), Clocks(time.perf_counter)
    original: Any = getattr(ort.InferenceSession, _RUN)

    def run(*arguments: Any) -> Any:
        if threading.current_thread().name != _STEPS_THREAD:
            return original(*arguments)
        entered = (wall.enter(), cpu.enter())
        result = original(*arguments)
        cpu.leave(entered[1])
        wall.leave(entered[0])
        return result

    setattr(ort.InferenceSession, _RUN, run)
    try:
        yield cpu, wall
    finally:
        setattr(ort.InferenceSession, _RUN, original)


if __name__ == "__main__":
    command(measure, __doc__)
