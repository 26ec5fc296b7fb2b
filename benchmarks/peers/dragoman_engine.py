"""Our engine in the same harness."""

from __future__ import annotations

import queue
from pathlib import Path

from benchmarks.peers.ctranslate2_engine import Job
from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineOptions,
    Event,
    Finished,
    TranslationRequest,
    TranslationResult,
)


class Dragoman:
    """The engine alone, no server; `threads` for each of its graphs."""

    name = "Dragoman int8"

    def __init__(self, bundle: Path, threads: int) -> None:
        # Sources come again in every round: kept ones would be no measure of the encoder.
        options = EngineOptions(
            max_rows=32,
            max_queued=10_000,
            decoder_threads=threads,
            encoder_threads=threads,
            source_cache_bytes=0,
            prefix_cache_bytes=0,
        )
        self.engine = Engine.load(bundle, options)
        self.engine.start()

    def run(self, job: Job) -> int:
        """Decode and return the number of output tokens, EOS not counted."""
        forced = job.forced_tokens
        options = DecodingOptions(
            beam_size=job.beam_size,
            max_output_tokens=forced or job.max_tokens,
            min_output_tokens=forced or 0,
            length_penalty=0.6,
        )
        ended: queue.SimpleQueue[Event] = queue.SimpleQueue()
        for source in job.sources:
            self.engine.submit(TranslationRequest(source, options=options), ended.put)
        return sum(self._tokens(ended.get()) for _ in job.sources)

    def _tokens(self, event: Event) -> int:
        if not isinstance(event, Finished) or not isinstance(event.result, TranslationResult):
            raise TypeError(event)
        return len(event.result.hypotheses[0].token_ids)
