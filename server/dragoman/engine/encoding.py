"""The encoder beside the step loop: a long text never stalls the rows that run."""

from dragoman.engine.cache import Values
from dragoman.engine.encoder_session import EncoderSession
from dragoman.engine.errors import NumericsError
from dragoman.engine.job import Job
from dragoman.engine.observer import EngineObserver
from dragoman.engine.registry import Clock, Registry
from dragoman.engine.sources import SourceCache


class EncoderLoop:
    """Encodes sources in batches; used by one thread only.

    Attributes:
        busy_since: when the batch that is computed now began, or None.
    """

    def __init__(
        self,
        registry: Registry,
        encoder: EncoderSession,
        sources: SourceCache,
        observer: EngineObserver,
        clock: Clock,
    ) -> None:
        """Begin with nothing encoded."""
        self._registry = registry
        self._encoder = encoder
        self._sources = sources
        self._observer = observer
        self._clock = clock
        self.busy_since: float | None = None

    def run_batch(self) -> bool:
        """Wait for requests, then encode one batch of them.

        Returns:
            False once there will be no more.
        """
        jobs = self._registry.next_batch()
        if jobs:
            self._encode(jobs)
        return bool(jobs)

    def _encode(self, jobs: list[Job]) -> None:
        """Give jobs their encoded sources; equal ones share one, and known ones come first."""
        wanted: dict[tuple[int, ...], list[Job]] = {}
        for job in jobs:
            wanted.setdefault(job.source_ids, []).append(job)
        known = {ids: self._sources.find(ids) for ids in wanted}
        new = [ids for ids in wanted if known[ids] is None]
        self._count(len(jobs) - len(new), len(new))
        self._hand_over(
            [
                (job, source)
                for ids, source in known.items()
                if source is not None
                for job in wanted[ids]
            ]
        )
        if new:
            encoded = zip(new, self._run(new), strict=True)
            self._hand_over([(job, source) for ids, source in encoded for job in wanted[ids]])

    def _count(self, hits: int, misses: int) -> None:
        self._sources.hits += hits
        self._sources.misses += misses
        self._observer.sources_found(hits, misses)

    def _run(self, sources: list[tuple[int, ...]]) -> list[Values | None]:
        """Encode sources; None where the numbers are not finite."""
        started = self.busy_since = self._clock()
        encoded = self._encoder.run(sources)
        self.busy_since = None
        tokens = sum(map(len, sources))
        self._observer.encoded(len(sources), tokens, self._clock() - started)
        return [
            None if source is None else self._sources.keep(ids, source)
            for ids, source in zip(sources, encoded, strict=True)
        ]

    def _hand_over(self, found: list[tuple[Job, Values | None]]) -> None:
        ready: list[Job] = []
        for job, source in found:
            if source is None:
                self._registry.end(job.ticket.key, NumericsError("encoder"))
            else:
                job.source = source
                ready.append(job)
        self._registry.encoded(ready)
