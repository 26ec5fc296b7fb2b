"""Encoder and scorer beside the step loop: a long text never stalls the rows that run."""

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.errors import NumericsError
from dragoman.engine.job import Job
from dragoman.engine.observer import EngineObserver
from dragoman.engine.registry import Clock, Registry
from dragoman.engine.scorer import ScorerSession
from dragoman.engine.sessions import EncoderSession


class EncoderLoop:
    """Encodes sources in batches, and scores targets between them; used by one thread only.

    Attributes:
        busy_since: when the batch that is computed now began, or None.
    """

    def __init__(
        self,
        registry: Registry,
        encoder: EncoderSession,
        scorer: ScorerSession,
        observer: EngineObserver,
        clock: Clock,
    ) -> None:
        """Begin with nothing encoded."""
        self._registry = registry
        self._encoder = encoder
        self._scorer = scorer
        self._observer = observer
        self._clock = clock
        self.busy_since: float | None = None

    def run_batch(self) -> bool:
        """Wait for requests, then encode one batch of them and score one batch of targets.

        Returns:
            False once there will be no more.
        """
        jobs = self._registry.next_batch()
        scored = [job for job in jobs if job.source is not None]
        new = [job for job in jobs if job.source is None]
        if new:
            self._encode(new)
        for job in scored:
            self._score(job)
        return bool(jobs)

    def _encode(self, jobs: list[Job]) -> None:
        started = self.busy_since = self._clock()
        sources = self._encoder.run([job.source_ids for job in jobs])
        self.busy_since = None
        tokens = sum(len(job.source_ids) for job in jobs)
        self._observer.encoded(len(jobs), tokens, self._clock() - started)
        self._hand_over(jobs, sources)

    def _hand_over(self, jobs: list[Job], sources: list[NDArray[np.float32]]) -> None:
        ready: list[Job] = []
        for job, source in zip(jobs, sources, strict=True):
            if np.isfinite(source).all():
                job.source = source
                ready.append(job)
            else:
                self._registry.end(job.ticket.key, NumericsError("encoder"))
        self._registry.encoded(ready)

    def _score(self, job: Job) -> None:
        source, scoring = job.source, job.scoring
        if source is None or scoring is None:
            return  # It has just ended.
        self.busy_since = self._clock()
        finite = scoring.advance(self._scorer, source)
        self.busy_since = None
        if not finite:
            self._registry.end(job.ticket.key, NumericsError("scorer"))
        elif scoring.done:
            self._registry.scored(job)
        else:
            self._registry.score(job)
