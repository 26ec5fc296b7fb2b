"""What the threads share: the accepted requests and the scheduler, behind one lock.

Whoever takes a job out of the registry delivers its terminal event; so there is exactly one. A job
that was given rows belongs to one step loop from then on: that loop alone decodes and ends it.
"""

import threading
from collections.abc import Callable

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
from dragoman.engine.plan import NOTHING, Inbox, Plan
from dragoman.engine.scheduler import Scheduler

Clock = Callable[[], float]


class Registry:
    """Accepted requests until they end. All methods may be called from any thread."""

    def __init__(self, scheduler: Scheduler, max_queued: int, clock: Clock) -> None:
        """Begin empty. Step loops are known by their number, from 0 on."""
        self._scheduler = scheduler
        self._max_queued = max_queued
        self._clock = clock
        self._jobs: dict[int, Job] = {}
        self._ended: dict[int, EngineError] = {}
        self._pace = Pace()
        self._draining = False
        self._closed = False
        self._failure: EngineError | None = None
        self._lock = lock = threading.Lock()
        self._inboxes = [Inbox(threading.Condition(lock)) for _ in range(scheduler.workers)]
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
                self._wake(job)

    def cancel(self, key: int) -> None:
        """End a job with `RequestCancelledError` before the next step, if it hasn't ended."""
        self.end(key, RequestCancelledError())

    def end(self, key: int, error: EngineError) -> None:
        """End a job with an error before the next step, if it hasn't ended."""
        with self._lock:
            self._note_end(key, error)

    def _note_end(self, key: int, error: EngineError) -> None:
        if key in self._jobs:
            self._ended.setdefault(key, error)
            self._wake(self._jobs[key])

    def _wake(self, job: Job) -> None:
        """Wake the loop that a job belongs to, or any where it belongs to none yet."""
        self._inbox(job).wake.notify()

    def _inbox(self, job: Job) -> Inbox:
        return self._inboxes[job.ticket.worker or 0]

    def next_batch(self) -> list[Job]:
        """Wait for jobs whose source is to be encoded and take them; none at all is the end."""
        with self._for_encoder:
            while not self._closed:
                now = self._clock()
                jobs = [self._jobs[key] for key in self._scheduler.next_batch(now)]
                for job in jobs:
                    job.taken = now
                if jobs:
                    return jobs
                self._for_encoder.wait()
        return []

    def encoded(self, jobs: list[Job]) -> None:
        """Let jobs whose `source` is there have rows."""
        with self._lock:
            self._scheduler.encoded(job.ticket.key for job in jobs)
            self._admit()

    def _admit(self) -> None:
        """Give free rows out; called whenever there may be some, and somebody to take them."""
        for key in self._scheduler.admit():
            job = self._jobs[key]
            self._inbox(job).admit(job)
        self._for_encoder.notify()

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
        """Let a job be answered, unless it has ended."""
        with self._lock:
            if job.ticket.key in self._jobs:
                self._inbox(job).answer(job)

    def plan(self, worker: int = 0) -> Plan:
        """Decide what happens before the next step of a loop."""
        inbox = self._inboxes[worker]
        with self._lock:
            now = self._clock()
            if not self._has_work(worker, now):
                return NOTHING
            for key in self._scheduler.expired(now):
                self._note_end(key, DeadlineExceededError())
            ended, aligned = self._take_ended(worker), self._take_aligned(inbox, now)
            self._admit()
            admitted = inbox.take_admitted()
        return Plan(ended, admitted, aligned)

    def _take_ended(self, worker: int) -> list[tuple[Job, EngineError]]:
        mine = {key: error for key, error in self._ended.items() if self._is_for(worker, key)}
        return [(self._remove(key), error) for key, error in mine.items()]

    def _is_for(self, worker: int, key: int) -> bool:
        """Whether a loop may end a job: it does not belong to another."""
        return self._jobs[key].ticket.worker in (None, worker)

    def _take_aligned(self, inbox: Inbox, now: float) -> list[Job]:
        keys = [job.ticket.key for job in inbox.take_aligned()]
        found = [self._remove(key) for key in keys if key in self._jobs]
        self._pace.note(now, len(found))
        return found

    def _has_work(self, worker: int, now: float) -> bool:
        inbox = self._inboxes[worker]
        if inbox.admitted or inbox.aligned or self._scheduler.has_work(now):
            return True
        return any(self._is_for(worker, key) for key in self._ended)

    def _remove(self, key: int) -> Job:
        job = self._jobs.pop(key)
        self._ended.pop(key, None)
        self._scheduler.remove(key)
        never_begun = self._inbox(job).withdraw(job) * job.ticket.width
        self._scheduler.release(job.rows + never_begun, job.ticket.worker or 0)
        return job

    def release(self, rows: int, worker: int = 0) -> None:
        """Take rows back of a branch that is over."""
        with self._lock:
            self._scheduler.release(rows, worker)
            self._admit()

    def remove(self, job: Job) -> None:
        """Take a job out, its rows with it, to deliver its terminal event."""
        with self._lock:
            self._remove(job.ticket.key)
            self._pace.note(self._clock())
            self._admit()

    def remove_all(self, worker: int | None = None) -> list[Job]:
        """Take all jobs out that are not another loop's, to deliver their terminal events."""
        with self._lock:
            mine = [key for key in self._jobs if worker is None or self._is_for(worker, key)]
            return [self._remove(key) for key in mine]

    def wait_for_work(self, worker: int = 0) -> bool:
        """Wait until `plan` has something for a loop; False where nothing more will come."""
        wake = self._inboxes[worker].wake
        with wake:
            while not self._closed:
                now = self._clock()
                if self._has_work(worker, now):
                    return True
                if self._draining and not self._jobs:
                    return False
                deadline = self._scheduler.next_deadline
                wake.wait(None if deadline is None else max(0.0, deadline - now))
        return False

    def drain(self) -> None:
        """Accept no more; what is accepted goes on."""
        with self._lock:
            self._draining = True
            self._wake_all()

    def close(self, failure: EngineError | None = None) -> None:
        """Let all threads end at once, perhaps for a failure; somebody takes pending jobs out."""
        with self._lock:
            self._draining = self._closed = True
            self._failure = self._failure or failure
            self._wake_all()

    def _wake_all(self) -> None:
        for inbox in self._inboxes:
            inbox.wake.notify_all()
        self._for_encoder.notify_all()
        self._for_aligner.notify_all()
