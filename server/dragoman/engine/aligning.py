"""The aligner beside the encoder and the step loop: nothing else waits for it."""

from dragoman.engine.errors import NumericsError
from dragoman.engine.job import Job
from dragoman.engine.registry import Clock, Registry
from dragoman.engine.scorer import ScorerSession


class AlignerLoop:
    """Aligns outputs, one in turn of each request that waits; used by one thread only.

    A long output takes the scorer many times as long as a step takes: so nothing else waits for
    this thread.

    Attributes:
        busy_since: when the output that is aligned now began, or None.
    """

    def __init__(self, registry: Registry, scorer: ScorerSession, clock: Clock) -> None:
        """Begin with nothing aligned."""
        self._registry = registry
        self._scorer = scorer
        self._clock = clock
        self.busy_since: float | None = None

    def run_turn(self) -> bool:
        """Wait for a request, then align its next output.

        Returns:
            False once there will be no more.
        """
        job = self._registry.next_alignment()
        if job is not None:
            self._align(job)
        return job is not None

    def _align(self, job: Job) -> None:
        source, aligning = job.source, job.aligning
        if source is None or aligning is None:
            raise RuntimeError("a request came to be aligned without its source or its outputs")
        self.busy_since = self._clock()
        finite = aligning.advance(self._scorer, source)
        self.busy_since = None
        if not finite:
            self._registry.end(job.ticket.key, NumericsError("scorer"))
        elif aligning.done:
            self._registry.aligned(job)
        else:
            self._registry.align(job)
