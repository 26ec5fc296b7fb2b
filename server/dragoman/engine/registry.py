"""What the threads share: the accepted requests and the scheduler, behind one lock.

Whoever takes a job out of the registry delivers its terminal event; so there is exactly one.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.engine.errors import (
    DeadlineExceededError,
    EngineError,
    EngineFailedError,
    EngineStoppedError,
    QueueFullError,
    RequestCancelledError,
)
from dragoman.engine.job import Job
from dragoman.engine.pace import Pace
from dragoman.engine.scheduler import Scheduler

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens before the next step.

    Attributes:
        ended: jobs that end without an answer, and why; their rows are free again.
        admitted: the job of each branch that gets rows, once for each branch.
        aligned: jobs that are done but for their answer.
    """

    ended: list[tuple[Job, EngineError]]
    admitted: list[Job]
    aligned: list[Job]


_NOTHING = Plan([], [], [])


class Registry:
    """Accepted requests until they end. All methods may be called from any thread."""

    def __init__(self, scheduler: Scheduler, max_queued: int, clock: Clock) -> None:
        """Begin empty."""
        self._scheduler = scheduler
        self._max_queued = max_queued
        self._clock = clock
        self._jobs: dict[int, Job] = {}
        self._ended: dict[int, EngineError] = {}
        self._aligned: list[Job] = []
        self._pace = Pace()
        self._draining = False
        self._closed = False
        self._failure: EngineError | None = None
        lock = threading.Lock()
        self._lock = lock
        self._for_steps = threading.Condition(lock)
        self._for_encoder = threading.Condition(lock)
        self._for_aligner = threading.Condition(lock)

    @property
    def queued(self) -> int:
        """Requests that have no rows yet."""
        return self._scheduler.queued

    @property
    def pending(self) -> int:
        """Requests that have not ended."""
        return len(self._jobs)

    @property
    def closed(self) -> bool:
        """Whether work stops at once."""
        return self._closed

    @property
    def failure(self) -> EngineError | None:
        """Why the engine broke, or None."""
        return self._failure

    def add(self, job: Job) -> None:
        """Accept a job.

        Raises:
            QueueFullError: where too many wait.
            EngineStoppedError: once draining began.
            EngineFailedError: once the engine broke.
        """
        with self._lock:
            if self._failure is not None:
                raise EngineFailedError(str(self._failure)) from self._failure
            if self._draining:
                raise EngineStoppedError
            job.submitted = self._clock()
            if self._scheduler.full:
                retry_after = self._pace.retry_after(self.queued, job.submitted)
                raise QueueFullError(self._max_queued, retry_after)
            self._jobs[job.ticket.key] = job
            self._scheduler.add(job.ticket)
            self._for_encoder.notify()
            if job.ticket.deadline is not None:
                self._for_steps.notify()

    def cancel(self, key: int) -> None:
        """End a job with `RequestCancelledError` before the next step, if it hasn't ended."""
        self.end(key, RequestCancelledError())

    def end(self, key: int, error: EngineError) -> None:
        """End a job with an error before the next step, if it hasn't ended."""
        with self._lock:
            if key in self._jobs:
                self._ended.setdefault(key, error)
                self._for_steps.notify()

    def next_batch(self) -> list[Job]:
        """Wait for jobs whose source is to be encoded and take them; none at all is the end."""
        with self._for_encoder:
            while not self._closed:
                now = self._clock()
                jobs = self._take(self._scheduler.next_batch(now), now)
                if jobs:
                    return jobs
                self._for_encoder.wait()
        return []

    def _take(self, keys: list[int], now: float) -> list[Job]:
        jobs = [self._jobs[key] for key in keys]
        for job in jobs:
            job.taken = now
        return jobs

    def encoded(self, jobs: list[Job]) -> None:
        """Let jobs whose `source` is there have rows."""
        with self._lock:
            self._scheduler.encoded(job.ticket.key for job in jobs)
            self._for_steps.notify()

    def next_alignment(self) -> Job | None:
        """Wait for a job one of whose outputs is to be aligned and take it; None is the end."""
        with self._for_aligner:
            while not self._closed:
                key = self._scheduler.next_alignment()
                if key is not None:
                    return self._jobs[key]
                self._for_aligner.wait()
        return None

    def align(self, job: Job) -> None:
        """Let a job be aligned, or go on with it, unless it has ended."""
        with self._lock:
            if job.ticket.key in self._jobs:
                self._scheduler.align(job.ticket.key)
                self._for_aligner.notify()

    def aligned(self, job: Job) -> None:
        """Let a job be answered."""
        with self._lock:
            self._aligned.append(job)
            self._for_steps.notify()

    def plan(self) -> Plan:
        """Decide what happens before the next step."""
        with self._lock:
            now = self._clock()
            if not self._has_work(now):
                return _NOTHING
            for key in self._scheduler.expired(now):
                self._ended.setdefault(key, DeadlineExceededError())
            ended, aligned = self._take_ended(), self._take_aligned(now)
            admitted = [self._jobs[key] for key in self._scheduler.admit()]
            self._for_encoder.notify()
        return Plan(ended, admitted, aligned)

    def _take_ended(self) -> list[tuple[Job, EngineError]]:
        found = ((self._remove(key), error) for key, error in self._ended.items())
        ended = [(job, error) for job, error in found if job is not None]
        self._ended.clear()
        return ended

    def _take_aligned(self, now: float) -> list[Job]:
        found = [job for job in self._aligned if self._remove(job.ticket.key) is not None]
        for _ in found:
            self._pace.note(now)
        self._aligned.clear()
        return found

    def _has_work(self, now: float) -> bool:
        return bool(self._ended or self._aligned) or self._scheduler.has_work(now)

    def _remove(self, key: int) -> Job | None:
        job = self._jobs.pop(key, None)
        if job is not None:
            self._scheduler.remove(key)
            self._scheduler.release(job.rows)
        return job

    def release(self, rows: int) -> None:
        """Take rows back of a branch that is over."""
        with self._lock:
            self._scheduler.release(rows)

    def remove(self, job: Job) -> None:
        """Take a job out, its rows with it, to deliver its terminal event."""
        with self._lock:
            self._remove(job.ticket.key)
            self._pace.note(self._clock())
            self._for_encoder.notify()

    def remove_all(self) -> list[Job]:
        """Take all jobs out, to deliver their terminal events."""
        with self._lock:
            found = [self._remove(key) for key in list(self._jobs)]
        return [job for job in found if job is not None]

    def wait_for_work(self) -> bool:
        """Wait until `plan` has something to do; False where nothing more will come."""
        with self._for_steps:
            while not self._closed:
                now = self._clock()
                if self._has_work(now):
                    return True
                if self._draining and not self._jobs:
                    return False
                deadline = self._scheduler.next_deadline
                self._for_steps.wait(None if deadline is None else max(0.0, deadline - now))
        return False

    def drain(self) -> None:
        """Accept no more; what is accepted goes on."""
        with self._lock:
            self._draining = True
            self._for_steps.notify()

    def close(self, failure: EngineError | None = None) -> None:
        """Let all threads end at once; pending jobs stay until somebody takes them out.

        Args:
            failure: why, if the engine broke.
        """
        with self._lock:
            self._draining = self._closed = True
            self._failure = self._failure or failure
            self._for_steps.notify_all()
            self._for_encoder.notify_all()
            self._for_aligner.notify_all()
