"""An engine that is driven by hand, and an observer that notes everything."""

from __future__ import annotations

from pathlib import Path

from dragoman.engine import Bundle, Engine, EngineError, EngineObserver, EngineOptions, FinishReason
from dragoman.engine.job import Job
from tests.engine.calls import Call, Request


class Recorder(EngineObserver):
    """Notes what the engine reports."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def of(self, name: str) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]

    def request_queued(self) -> None:
        self.calls.append(("queued",))

    def request_rejected(self, reason: str) -> None:
        self.calls.append(("rejected", reason))

    def request_admitted(self, queue_seconds: float) -> None:
        self.calls.append(("admitted", queue_seconds))

    def first_token(self, seconds: float) -> None:
        self.calls.append(("first_token", seconds))

    def request_finished(
        self, reason: FinishReason | None, output_tokens: int, source_tokens: int, seconds: float
    ) -> None:
        self.calls.append(("finished", reason, output_tokens, source_tokens))

    def request_failed(self, error: EngineError) -> None:
        self.calls.append(("failed", type(error)))

    def request_scored(self, targets: int, tokens: int, seconds: float) -> None:
        self.calls.append(("scored", targets, tokens))

    def step(self, rows: int, seconds: float) -> None:
        self.calls.append(("step", rows))

    def encoded(self, sentences: int, tokens: int, seconds: float) -> None:
        self.calls.append(("encoded", sentences, tokens))


class Hand:
    """An engine without threads: the test encodes and steps. It keeps nothing unless told to."""

    def __init__(self, directory: Path, max_rows: int = 4, *, reuse: bool = False) -> None:
        self.now = 100.0
        self.observer = Recorder()
        kept = {} if reuse else {"source_cache_bytes": 0, "prefix_cache_bytes": 0}
        options = EngineOptions(
            max_rows=max_rows,
            max_batch_tokens=10_000,
            decoder_workers=1,
            decoder_threads=1,
            encoder_threads=1,
            **kept,
        )
        self.engine = Engine(Bundle.load(directory), options, self.observer, lambda: self.now)

    def submit(self, *requests: Request) -> list[Call]:
        return [Call(self.engine, request) for request in requests]

    def jobs(self) -> list[Job]:
        """Give all requests that have not ended, the oldest first."""
        return list(self.engine._registry._jobs.values())

    def encode(self) -> None:
        while self.engine._registry._scheduler._waiting:
            self.engine._encoder_loop.run_batch()

    def align(self) -> int:
        """Align all that waits for it; give the outputs that it took."""
        turns = 0
        while self.engine._registry._scheduler._turns:
            self.engine._aligner_loop.run_turn()
            turns += 1
        return turns

    def step(self, times: int = 1) -> None:
        for _ in range(times):
            self.engine._loops[0].step()

    def finish(self, *calls: Call) -> None:
        for _ in range(1000):
            if all(call.over for call in calls):
                return
            self.step()
        raise AssertionError("a request never ended")
