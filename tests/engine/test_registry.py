"""Accepted requests are kept, ended and waited for by the rules."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from dragoman.engine import (
    DeadlineExceededError,
    EngineFailedError,
    EngineLimits,
    EngineStoppedError,
    NextTokenRequest,
    NumericsError,
    Prefix,
    QueueFullError,
    RequestCancelledError,
    ScoreRequest,
    TranslationRequest,
)
from dragoman.engine.job import Job
from dragoman.engine.jobs import make_job
from dragoman.engine.registry import Registry
from dragoman.engine.scheduler import Scheduler
from dragoman.engine.search import Vocabulary

LIMITS = EngineLimits(max_source_tokens=9, max_target_tokens=9, max_rows=2, vocabulary_size=9)
VOCABULARY = Vocabulary(9, 2, 3, frozenset((0, 1, 2)), np.array([5], np.int64))
SOURCE = (4, 5, 3)


class Desk:
    """A registry under a clock that only moves when told to."""

    def __init__(self, rows: int = 2, queued: int = 3, workers: int = 1) -> None:
        self.now = 0.0
        self.keys = 0
        scheduler = Scheduler(rows, queued, 64, workers)
        self.registry = Registry(scheduler, queued, lambda: self.now)

    def add(self, deadline: float | None = None, branches: int = 1) -> Job:
        request = (
            TranslationRequest(SOURCE, deadline=deadline)
            if branches == 1
            else NextTokenRequest(SOURCE, (Prefix(),) * branches, deadline=deadline)
        )
        self.keys += 1
        job = make_job(self.keys, request, VOCABULARY, LIMITS, lambda _: None)
        self.registry.add(job)
        return job

    def encode(self) -> list[Job]:
        jobs = self.registry.next_batch()
        self.registry.encoded(jobs)
        return jobs


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_job_is_encoded_then_admitted(desk: Desk) -> None:
    job = desk.add()
    desk.now = 1.5
    assert desk.encode() == [job]
    assert (job.submitted, job.taken) == (0.0, 1.5)
    plan = desk.registry.plan()
    assert (plan.ended, plan.admitted) == ([], [job])
    assert desk.registry.plan().admitted == []


def test_a_cancelled_job_ends_once_with_the_next_plan(desk: Desk) -> None:
    job = desk.add()
    desk.registry.cancel(job.ticket.key)
    desk.registry.cancel(job.ticket.key)
    [(ended, error)] = desk.registry.plan().ended
    assert ended is job
    assert isinstance(error, RequestCancelledError)
    assert desk.registry.plan().ended == []
    assert desk.registry.pending == desk.registry.queued == 0


def test_the_first_reason_to_end_counts(desk: Desk) -> None:
    job = desk.add(deadline=1.0)
    desk.registry.end(job.ticket.key, NumericsError("encoder"))
    desk.registry.cancel(job.ticket.key)
    desk.now = 2.0
    [(_, error)] = desk.registry.plan().ended
    assert isinstance(error, NumericsError)


def test_cancelling_what_has_ended_does_nothing(desk: Desk) -> None:
    job = desk.add()
    desk.encode()
    desk.registry.plan()
    desk.registry.remove(job)
    desk.registry.cancel(job.ticket.key)
    assert desk.registry.plan().ended == []


def test_an_expired_job_ends_wherever_it_stands(desk: Desk) -> None:
    waiting, ready = desk.add(deadline=1.0), desk.add(deadline=1.0)
    desk.registry.encoded([ready])
    desk.now = 1.0
    plan = desk.registry.plan()
    assert [job for job, _ in plan.ended] == [waiting, ready]
    assert all(isinstance(error, DeadlineExceededError) for _, error in plan.ended)
    assert plan.admitted == []


def test_rows_of_an_ended_job_go_to_the_next_at_once(desk: Desk) -> None:
    first, second = desk.add(branches=2), desk.add()
    desk.encode()
    plan = desk.registry.plan()
    assert plan.admitted == [first, first]
    first.running = list(first.searches)
    desk.registry.cancel(first.ticket.key)
    plan = desk.registry.plan()
    assert [job for job, _ in plan.ended] == [first]
    assert plan.admitted == [second]


def decoded_job(desk: Desk) -> Job:
    """A job that has been decoded and is to be aligned."""
    desk.keys += 1
    request = ScoreRequest(SOURCE, ((4,),), return_alignment=True)
    job = make_job(desk.keys, request, VOCABULARY, LIMITS, lambda _: None)
    desk.registry.add(job)
    assert desk.encode() == [job]
    assert desk.registry.plan().admitted == [job]
    desk.registry.release(1)
    return job


def test_a_decoded_job_is_aligned_and_answered(desk: Desk) -> None:
    job = decoded_job(desk)
    desk.registry.align(job)
    assert desk.registry.next_alignment() is job
    desk.registry.align(job)
    assert desk.registry.next_alignment() is job
    desk.registry.aligned(job)
    assert desk.registry.wait_for_work()
    plan = desk.registry.plan()
    assert (plan.ended, plan.admitted, plan.aligned) == ([], [], [job])
    assert desk.registry.pending == 0


def test_a_job_that_ended_meanwhile_is_not_answered_again(desk: Desk) -> None:
    job = decoded_job(desk)
    desk.registry.align(job)
    assert desk.registry.next_alignment() is job
    desk.registry.cancel(job.ticket.key)
    desk.registry.aligned(job)
    plan = desk.registry.plan()
    assert [ended for ended, _ in plan.ended] == [job]
    assert plan.aligned == []
    desk.registry.align(job)
    desk.registry.close()
    assert desk.registry.next_alignment() is None


def test_the_queue_is_bounded_and_says_when_to_come_back(desk: Desk) -> None:
    for _ in range(3):
        desk.add()
    with pytest.raises(QueueFullError) as error:
        desk.add()
    assert error.value.max_queued == 3
    assert error.value.retry_after_seconds > 0
    assert desk.registry.pending == 3


def test_the_time_to_come_back_follows_the_pace(desk: Desk) -> None:
    desk = Desk(rows=64, queued=64)
    done = [desk.add() for _ in range(10)]
    desk.encode()
    desk.registry.plan()
    for job in done:
        desk.now += 0.5
        desk.registry.remove(job)
    for _ in range(64):
        desk.add()
    with pytest.raises(QueueFullError) as error:
        desk.add()
    assert error.value.retry_after_seconds == 10.0


def test_draining_refuses_newcomers_and_keeps_the_others(desk: Desk) -> None:
    job = desk.add()
    desk.registry.drain()
    with pytest.raises(EngineStoppedError):
        desk.add()
    assert desk.encode() == [job]
    assert desk.registry.wait_for_work()
    desk.registry.plan()
    desk.registry.remove(job)
    assert not desk.registry.wait_for_work()


def test_a_failure_is_told_to_newcomers(desk: Desk) -> None:
    cause = EngineFailedError("broken")
    desk.registry.close(cause)
    desk.registry.close(EngineFailedError("later"))
    assert desk.registry.failure is cause
    with pytest.raises(EngineFailedError, match="broken") as error:
        desk.add()
    assert error.value.__cause__ is cause


def test_closing_wakes_all_who_wait(desk: Desk) -> None:
    results: list[object] = []
    registry = desk.registry
    waits = (registry.wait_for_work, registry.next_batch, registry.next_alignment)
    threads = [threading.Thread(target=lambda wait=wait: results.append(wait())) for wait in waits]
    for thread in threads:
        thread.start()
    desk.registry.close()
    for thread in threads:
        thread.join(10)
    assert list(map(bool, results)) == [False] * 3


def test_all_jobs_can_be_taken_out(desk: Desk) -> None:
    jobs = [desk.add(), desk.add()]
    assert desk.registry.remove_all() == jobs
    assert desk.registry.remove_all() == []
    assert desk.registry.queued == 0


def test_a_deadline_wakes_the_step_thread() -> None:
    registry = Registry(Scheduler(1, 4, 64), 4, time.monotonic)
    request = TranslationRequest(SOURCE, deadline=time.monotonic() + 0.05)
    registry.add(make_job(1, request, VOCABULARY, LIMITS, lambda _: None))
    assert registry.wait_for_work()
    assert len(registry.plan().ended) == 1


@pytest.fixture
def pair() -> Desk:
    """A registry of two step loops."""
    return Desk(rows=4, workers=2)


def admitted(desk: Desk, worker: int) -> list[Job]:
    """Plan, and let the admitted branches begin as a step loop does."""
    jobs = desk.registry.plan(worker).admitted
    for job in jobs:
        job.running.append(job.waiting.pop())
    return jobs


def test_each_loop_gets_its_own_jobs(pair: Desk) -> None:
    first, second = pair.add(), pair.add(branches=2)
    pair.encode()
    assert admitted(pair, 1) == [second, second]
    assert admitted(pair, 0) == [first]
    assert pair.registry.plan(0).admitted == pair.registry.plan(1).admitted == []


def test_a_running_job_is_ended_by_its_own_loop(pair: Desk) -> None:
    first, second = pair.add(), pair.add()
    pair.encode()
    assert [admitted(pair, 0), admitted(pair, 1)] == [[first], [second]]
    pair.registry.cancel(second.ticket.key)
    assert pair.registry.plan(0).ended == []
    [(ended, _)] = pair.registry.plan(1).ended
    assert ended is second


def test_a_job_that_no_loop_has_may_be_ended_by_any(pair: Desk) -> None:
    job = pair.add()
    pair.registry.cancel(job.ticket.key)
    [(ended, _)] = pair.registry.plan(1).ended
    assert ended is job
    assert pair.registry.plan(0).ended == []


def test_branches_that_never_began_give_their_rows_back(pair: Desk) -> None:
    many = pair.add(branches=3)
    pair.encode()
    pair.registry.cancel(many.ticket.key)
    plan = pair.registry.plan(0)
    assert ([job for job, _ in plan.ended], plan.admitted) == ([many], [])
    later = [pair.add(), pair.add(branches=3)]
    pair.encode()
    assert admitted(pair, 0) + admitted(pair, 1) == [later[0], later[1], later[1], later[1]]


def test_a_deadline_that_one_loop_notices_wakes_the_other(pair: Desk) -> None:
    first, second = pair.add(), pair.add(deadline=1.0)
    pair.encode()
    assert [admitted(pair, 0), admitted(pair, 1)] == [[first], [second]]
    woken = threading.Event()

    def wait() -> None:
        assert pair.registry.wait_for_work(1)
        woken.set()

    thread = threading.Thread(target=wait)
    thread.start()
    pair.now = 1.0
    assert pair.registry.plan(0).ended == []
    thread.join(10)
    assert woken.is_set()
    [(ended, error)] = pair.registry.plan(1).ended
    assert ended is second
    assert isinstance(error, DeadlineExceededError)


def test_a_loop_that_ends_takes_what_no_other_has(pair: Desk) -> None:
    first, second = pair.add(), pair.add()
    pair.encode()
    assert [admitted(pair, 0), admitted(pair, 1)] == [[first], [second]]
    waiting = pair.add()
    assert pair.registry.remove_all(1) == [second, waiting]
    assert pair.registry.remove_all() == [first]
    assert pair.registry.pending == 0


def test_an_aligned_job_is_answered_by_its_own_loop(pair: Desk) -> None:
    first, second = pair.add(), pair.add()
    pair.encode()
    assert [admitted(pair, 0), admitted(pair, 1)] == [[first], [second]]
    pair.registry.aligned(second)
    assert pair.registry.plan(0).aligned == []
    assert pair.registry.plan(1).aligned == [second]
    pair.registry.aligned(second)
    assert pair.registry.plan(1).aligned == []
