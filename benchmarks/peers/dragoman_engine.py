"""Our engine in the same harness."""

from __future__ import annotations

import queue
from dataclasses import replace
from pathlib import Path

from benchmarks.jobs import Job
from benchmarks.models import ModelName, bundle
from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineOptions,
    Event,
    Finished,
    TranslationRequest,
    TranslationResult,
)


def open_engine(model: ModelName, threads: int) -> Dragoman:
    """Load our engine with a model's bundle."""
    return Dragoman(bundle(model), threads)


class Dragoman:
    """The engine alone, no server; `threads` for each of its graphs.

    A batch of 32 is 32 rows, or with a beam of 4 128, as it is for an engine that batches
    statically; an engine of each size is loaded when it is first needed.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self._path = path
        self._threads = threads
        self._engines: dict[int, Engine] = {}

    def _engine(self, rows: int) -> Engine:
        if rows not in self._engines:
            # Sources come again in every round: kept ones would be no measure of the encoder.
            options = EngineOptions(
                max_rows=rows,
                max_queued=10_000,
                decoder_threads=self._threads,
                encoder_threads=self._threads,
                source_cache_bytes=0,
                prefix_cache_bytes=0,
            )
            self._engines[rows] = Engine.load(self._path, options)
            self._engines[rows].start()
        return self._engines[rows]

    def run(self, job: Job) -> list[list[int]]:
        """Decode; see `PeerEngine`."""
        engine = self._engine(job.batch_size * job.beam_size)
        options = decoding_options(job)
        ended: queue.SimpleQueue[tuple[int, Event]] = queue.SimpleQueue()
        for place, source in enumerate(job.sources):
            request = TranslationRequest(source, options=options)
            engine.submit(request, lambda event, place=place: ended.put((place, event)))  # type: ignore[misc]
        found = dict(ended.get() for _ in job.sources)
        return [_tokens(found[place]) for place in range(len(job.sources))]


def decoding_options(job: Job) -> DecodingOptions:
    """Give a job's options in our engine's terms."""
    forced = job.forced_tokens
    options = DecodingOptions(
        beam_size=job.beam_size,
        max_output_tokens=forced or job.max_tokens,
        min_output_tokens=forced or 0,
        length_penalty=0.6,
    )
    return options if job.prunes else replace(options, pruning_margin=0.0)


def _tokens(event: Event) -> list[int]:
    if not isinstance(event, Finished) or not isinstance(event.result, TranslationResult):
        raise TypeError(event)
    return list(event.result.hypotheses[0].token_ids)
