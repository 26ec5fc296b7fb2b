"""The encoder beside the step loop: a long source never stalls the rows that run."""

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.errors import NumericsError
from dragoman.engine.jobs import Job
from dragoman.engine.observer import EngineObserver
from dragoman.engine.registry import Clock, Registry
from dragoman.engine.sessions import EncoderSession


class EncoderLoop:
    """Encodes the sources of waiting requests in batches; used by one thread only.

    Attributes:
        busy_since: when the batch that is computed now began, or None.
    """

    def __init__(
        self, registry: Registry, encoder: EncoderSession, observer: EngineObserver, clock: Clock
    ) -> None:
        """Begin with nothing encoded."""
        self._registry = registry
        self._encoder = encoder
        self._observer = observer
        self._clock = clock
        self.busy_since: float | None = None

    def run_batch(self) -> bool:
        """Wait for requests, encode one batch of them, and let them have rows.

        Returns:
            False once there will be no more.
        """
        jobs = self._registry.next_batch()
        if not jobs:
            return False
        started = self.busy_since = self._clock()
        sources = self._encoder.run([job.source_ids for job in jobs])
        self.busy_since = None
        tokens = sum(len(job.source_ids) for job in jobs)
        self._observer.encoded(len(jobs), tokens, self._clock() - started)
        self._hand_over(jobs, sources)
        return True

    def _hand_over(self, jobs: list[Job], sources: list[NDArray[np.float32]]) -> None:
        ready: list[Job] = []
        for job, source in zip(jobs, sources, strict=True):
            if np.isfinite(source).all():
                job.source = source
                ready.append(job)
            else:
                self._registry.end(job.ticket.key, NumericsError("encoder"))
        self._registry.encoded(ready)
