"""The step loop: schedule, run, update. There may be several, each with rows of its own."""

import logging
import math
from collections.abc import Iterable
from functools import partial

from dragoman.engine.errors import (
    DeadlineExceededError,
    EngineError,
    NumericsError,
    RequestCancelledError,
)
from dragoman.engine.job import Job
from dragoman.engine.observer import EngineObserver
from dragoman.engine.prefixes import PrefixCache
from dragoman.engine.registry import Clock, Registry
from dragoman.engine.request import Event, Failed, Finished, TokensCommitted
from dragoman.engine.rows import Rows
from dragoman.engine.search import Search, Step, Trace
from dragoman.engine.sessions import DecoderSession

_LOG = logging.getLogger(__name__)


class StepLoop:
    """Decodes all running requests, one token each per step; used by one thread only.

    Attributes:
        rows: the rows of its running batch.
        steps: steps computed so far.
        busy_since: when the step that is computed now began, or None.
    """

    def __init__(
        self,
        registry: Registry,
        rows: Rows,
        prefixes: PrefixCache,
        decoder: DecoderSession,
        observer: EngineObserver,
        clock: Clock,
        worker: int = 0,
    ) -> None:
        """Begin with nothing running; `worker` is the loop's number in the registry."""
        self._registry = registry
        self.rows = rows
        self._prefixes = prefixes
        self._decoder = decoder
        self._observer = observer
        self._clock = clock
        self._worker = worker
        self._running: list[tuple[Job, Search]] = []
        self.steps = 0
        self.busy_since: float | None = None

    def step(self) -> bool:
        """Schedule, run and update once.

        Returns:
            Whether any row was active.
        """
        self._schedule()
        active = self.rows.compact()
        if active:
            started = self.busy_since = self._clock()
            step = self._run(active)
            # Counted before its answers go out: who has an answer finds its steps counted.
            self.steps += 1
            self._update(step)
            self.busy_since = None
            self._observer.step(active, self._clock() - started)
        return active > 0

    def _schedule(self) -> None:
        plan = self._registry.plan(self._worker)
        for job, error in plan.ended:
            self._end(job, error)
        for job in plan.aligned:
            self._finish(job)
        for job in plan.admitted:
            self._admit(job)

    def _admit(self, job: Job) -> None:
        if job.source is None:
            raise RuntimeError("a request was admitted before its source was encoded")
        if not job.running and len(job.waiting) == len(job.searches):
            self._observer.request_admitted(job.taken - job.submitted)
        search = job.waiting.pop()
        self.rows.place(search, job.source)
        if search.forced:
            self._resume(job, search)
        job.running.append(search)
        self._running.append((job, search))
        if not job.waiting and not job.aligned:
            job.source = None

    def _resume(self, job: Job, search: Search) -> None:
        """Let a search begin after what is known of its forced prefix."""
        prefixes, forced = self._prefixes, search.forced
        known = prefixes.find(job.source_ids, forced)
        reused = 0
        if known is not None:
            reused = len(known.token_ids)
            search.resume(known.token_ids, known.log_probabilities)
            self.rows.resume(search, known.token_ids[-1], known.target)
        elif prefixes.enabled:
            search.resume((), ())
        self._observer.prefix_reused(reused, len(forced) - reused)

    def _keep(self, job: Job, trace: Trace | None) -> None:
        """Keep what a row knows for later requests."""
        if self._prefixes.enabled and trace is not None and trace.token_ids:
            row, token_ids, log_probabilities = trace
            read = partial(self.rows.read, row)
            self._prefixes.keep(job.source_ids, token_ids, log_probabilities, read)

    def _run(self, active: int) -> Step:
        candidates = max([search.candidates for _, search in self._running])
        all_log_probs = any(search.all_log_probs for _, search in self._running)
        return Step(self._decoder.run(active, candidates, all_log_probs=all_log_probs))

    def _update(self, step: Step) -> None:
        if not math.isfinite(sum(step.best_log_probabilities) + sum(step.output.row_evidence)):
            self._fail_not_finite(step)
        over: list[tuple[Job, Search]] = []
        changed: list[Search] = []
        spoiled: list[tuple[Job, Search]] = []
        for job, search in self._running:
            done = search.advance(step)
            if (done or search.ended) and not self.rows.finite(search):
                spoiled.append((job, search))
            if job.stream:
                self._commit(job, search)
            if job.first_token is None and search.chosen:
                self._note_first_token(job)
            if search.ended:
                self._keep_ended(job, search)
            if done:
                over.append((job, search))
            elif search.parents is not None:
                changed.append(search)
        self.rows.feed(step.next_ids)
        self._fail_poisoned(spoiled)
        # Who has just failed has no rows.
        for job, search in over:
            if search.rows:
                self._end_branch(job, search)
        for search in changed:
            if search.rows:
                self.rows.rearrange(search)

    def _keep_ended(self, job: Job, search: Search) -> None:
        for trace in search.ended:
            self._keep(job, trace)
        search.ended = ()

    def _commit(self, job: Job, search: Search) -> None:
        token_ids, log_probabilities = search.take_committed()
        if token_ids:
            self._deliver(job, TokensCommitted(token_ids, log_probabilities))

    def _note_first_token(self, job: Job) -> None:
        job.first_token = self._clock()
        self._observer.first_token(job.first_token - job.submitted)

    def _end_branch(self, job: Job, search: Search) -> None:
        self._keep(job, search.trace())
        self._running.remove((job, search))
        job.running.remove(search)
        self.rows.free(search)
        self._registry.release(search.most_rows, self._worker)
        if not job.running and not job.waiting:
            self._complete(job)

    def _complete(self, job: Job) -> None:
        """Answer a job whose branches are over, or let its outputs be aligned before."""
        job.aligning = job.plan_alignment()
        if job.aligning is None:
            self._registry.remove(job)
            self._finish(job)
        else:
            self._registry.align(job)

    def _finish(self, job: Job) -> None:
        """Deliver the answer of a job that was taken out of the registry."""
        last = job.last_tokens()
        if last is not None:
            self._deliver(job, last)
        now = self._clock()
        job.report(self._observer, now)
        self._deliver(job, Finished(job.result(now)))

    def _fail_not_finite(self, step: Step) -> None:
        given, evidence = step.best_log_probabilities, step.output.row_evidence
        self._fail_poisoned(
            [
                (job, search)
                for job, search in self._running
                if not all(math.isfinite(given[row] + evidence[row]) for row in search.rows)
            ]
        )

    def _fail_poisoned(self, poisoned: list[tuple[Job, Search]]) -> None:
        for _, search in poisoned:
            self.rows.clear(search)
        for job in {job.ticket.key: job for job, _ in poisoned}.values():
            self._registry.remove(job)
            self._fail(job, NumericsError("decoder"))

    def _end(self, job: Job, error: EngineError) -> None:
        """End a job that was taken out of the registry, with its best so far or an error."""
        if isinstance(error, DeadlineExceededError | RequestCancelledError):
            for search in job.running:
                self._keep(job, search.trace())
        early = isinstance(error, DeadlineExceededError) and job.finishes_early
        if not (early and job.cut()):
            self._fail(job, error)
            return
        if job.stream and job.running:
            self._commit(job, job.running[0])
        self._leave(job)
        self._finish(job)

    def _leave(self, job: Job) -> None:
        self._running = [branch for branch in self._running if branch[0] is not job]
        for search in job.running:
            self.rows.free(search)

    def _fail(self, job: Job, error: EngineError) -> None:
        """End a job that was taken out of the registry."""
        self._leave(job)
        self._observer.request_failed(error)
        self._deliver(job, Failed(error))

    def fail_all(self, jobs: Iterable[Job], error: EngineError) -> None:
        """End jobs that were taken out of the registry."""
        for job in jobs:
            self._fail(job, error)

    def _deliver(self, job: Job, event: Event) -> None:
        try:
            job.on_event(event)
        except Exception:  # noqa: BLE001 - a caller's fault must not end the others' requests
            _LOG.exception("a callback raised; its request is cancelled")
            self._registry.cancel(job.ticket.key)
