"""The scheduler is fair, work-conserving, and keeps its books."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    precondition,
    rule,
)

from dragoman.engine.scheduler import Scheduler, Ticket

ROWS, QUEUE, TOKENS, WORKERS = 4, 12, 64, 2
NEVER = float("inf")


def scheduler(rows: int = ROWS, queued: int = QUEUE, tokens: int = TOKENS) -> Scheduler:
    return Scheduler(rows, queued, tokens)


def add(books: Scheduler, *lengths: int) -> None:
    for key, length in enumerate(lengths):
        books.add(Ticket(key, length))


def encode_all(books: Scheduler) -> list[int]:
    keys: list[int] = []
    while batch := books.next_batch(0.0):
        books.encoded(batch)
        keys += batch
    return keys


def test_rows_are_given_in_order_of_arrival() -> None:
    books = scheduler(rows=2)
    add(books, 5, 5, 5)
    encode_all(books)
    assert books.admit() == [0, 1]
    assert books.admit() == []
    books.remove(0)
    books.release(1)
    assert books.admit() == [2]


def decoded(books: Scheduler, *keys: int) -> None:
    """Let requests that were added be encoded and decoded and come to be aligned."""
    for key in keys:
        encode_all(books)
        books.admit()
        books.release(1)
        books.align(key)


def test_the_aligner_takes_turns() -> None:
    books = scheduler()
    add(books, 5, 5, 5)
    decoded(books, 0, 1, 2)
    assert [books.next_alignment(), books.next_alignment()] == [0, 1]
    books.align(0)
    assert [books.next_alignment() for _ in range(3)] == [2, 0, None]


def test_only_requests_to_align_wait_for_others_to_be_aligned() -> None:
    books = scheduler(tokens=20)
    for key in range(4):
        books.add(Ticket(key, 10, aligned=True))
    decoded(books, 0, 1, 2, 3)
    assert books.next_alignment() == 0
    books.add(Ticket(4, 10, aligned=True))
    books.add(Ticket(5, 10))
    assert books.next_batch(0.0) == [5]
    books.align(0)
    for key in (1, 2):
        books.remove(key)
        assert books.next_batch(0.0) == []
    books.remove(3)
    assert books.next_batch(0.0) == [4]
    books.remove(0)
    assert books._aligned_tokens == 0


def test_a_batch_holds_the_oldest_and_what_pads_little() -> None:
    books = scheduler()
    add(books, 10, 60, 11, 9, 40)
    assert books.next_batch(0.0) == [0, 2, 3]
    assert books.next_batch(0.0) == [1]


def test_a_batch_stays_within_its_tokens() -> None:
    books = scheduler(tokens=64)
    add(books, *[16] * 10)
    assert books.next_batch(0.0) == [0, 1, 2, 3]


def test_one_source_over_the_budget_is_a_batch_of_its_own() -> None:
    books = scheduler(tokens=8)
    add(books, 20, 20)
    assert books.next_batch(0.0) == [0]


def test_no_more_is_encoded_while_enough_is_ready() -> None:
    books = scheduler(rows=1, tokens=20)
    add(books, 20, 20)
    books.encoded(books.next_batch(0.0))
    assert books.next_batch(0.0) == []
    assert books.admit() == [0]
    assert books.next_batch(0.0) == [1]


def test_a_wide_request_is_not_passed_over() -> None:
    books = scheduler(rows=3)
    books.add(Ticket(0, 5))
    books.add(Ticket(1, 5, width=3))
    books.add(Ticket(2, 5))
    encode_all(books)
    assert books.admit() == [0]
    books.remove(0)
    books.release(1)
    assert books.admit() == [1]


def test_the_worker_with_the_fewest_rows_gets_the_next_request() -> None:
    books = Scheduler(8, QUEUE, TOKENS, workers=3)
    widths = (2, 1, 1, 1, 1)
    tickets = [Ticket(key, 5, width) for key, width in enumerate(widths)]
    for ticket in tickets:
        books.add(ticket)
    encode_all(books)
    assert books.admit() == [0, 1, 2, 3, 4]
    assert [ticket.worker for ticket in tickets] == [0, 1, 2, 1, 2]
    books.remove(0)
    books.release(2, worker=0)
    books.add(last := Ticket(5, 5, width=4))
    encode_all(books)
    assert books.admit() == [5]
    assert last.worker == 0


def test_all_branches_of_a_request_go_to_one_worker() -> None:
    books = Scheduler(4, QUEUE, TOKENS, workers=2)
    books.add(many := Ticket(0, 5, branches=4))
    books.add(other := Ticket(1, 5))
    encode_all(books)
    assert books.admit() == [0, 0, 0, 0]
    books.release(1, worker=0)
    assert books.admit() == [1]
    assert (many.worker, other.worker) == (0, 1)


def test_branches_are_admitted_one_by_one() -> None:
    books = scheduler(rows=2)
    books.add(Ticket(0, 5, branches=3))
    books.add(Ticket(1, 5))
    encode_all(books)
    assert books.queued == 2
    assert books.admit() == [0, 0]
    assert books.queued == 1
    books.release(2)
    assert books.admit() == [0, 1]


def test_the_queue_is_full_at_its_limit() -> None:
    books = scheduler(rows=1, queued=2)
    add(books, 5, 5)
    assert books.full
    encode_all(books)
    books.admit()
    assert not books.full


def test_an_expired_request_is_neither_encoded_nor_admitted() -> None:
    books = scheduler()
    books.add(Ticket(0, 5, deadline=1.0))
    books.add(Ticket(1, 5, deadline=9.0))
    assert books.next_deadline == 1.0
    assert books.next_batch(1.0) == [1]
    assert books.expired(0.5) == []
    assert books.has_work(1.0)
    assert books.expired(1.0) == [0]
    books.remove(0)
    assert books.expired(2.0) == []
    assert books.queued == 1


def test_deadlines_of_removed_requests_are_forgotten() -> None:
    books = scheduler(queued=10_000)
    for key in range(1000):
        books.add(Ticket(key, 5, deadline=1e9 + key))
        books.remove(key)
    assert len(books._deadlines) < 100
    assert books.expired(NEVER) == []


def test_a_request_removed_while_it_is_encoded_gets_no_rows() -> None:
    books = scheduler()
    add(books, 5, 5)
    batch = books.next_batch(0.0)
    books.remove(0)
    books.encoded(batch)
    assert books.admit() == [1]


@given(st.lists(st.integers(1, 100), min_size=1, max_size=60), st.integers(8, 256))
def test_every_request_is_encoded_once_and_padding_is_bounded(
    lengths: list[int], tokens: int
) -> None:
    books = scheduler(rows=len(lengths), queued=len(lengths), tokens=tokens)
    add(books, *lengths)
    seen: list[int] = []
    while len(seen) < len(lengths):
        batch = books.next_batch(0.0)
        oldest = min(set(range(len(lengths))) - set(seen))
        assert batch[0] == oldest
        sizes = [lengths[key] for key in batch]
        padded = max(sizes) * len(batch)
        assert len(batch) == 1 or padded <= min(tokens, 1.25 * sum(sizes) + 8)
        books.encoded(batch)
        books.admit()
        seen += batch
    assert sorted(seen) == list(range(len(lengths)))


class Traffic(RuleBasedStateMachine):
    """Random traffic against the rules that must hold at every moment."""

    live = Bundle("live")

    def __init__(self) -> None:
        super().__init__()
        self.books = Scheduler(ROWS, QUEUE, TOKENS, WORKERS)
        self.next_key = 0
        self.tickets: dict[int, Ticket] = {}
        self.branches: dict[int, int] = {}
        self.encoding: list[list[int]] = []
        self.encoded: set[int] = set()
        self.turns: list[int] = []
        self.running: dict[int, int] = {}

    @precondition(lambda self: not self.books.full)
    @rule(
        target=live,
        length=st.integers(1, 80),
        width=st.integers(1, ROWS),
        branches=st.integers(1, 5),
        aligned=st.booleans(),
    )
    def arrive(self, length: int, width: int, branches: int, aligned: bool) -> int:
        key = self.next_key
        self.next_key += 1
        self.tickets[key] = Ticket(key, length, width, branches, aligned=aligned)
        self.branches[key] = branches
        self.books.add(self.tickets[key])
        return key

    @rule()
    def take_batch(self) -> None:
        crowded = self.books._aligned_tokens >= TOKENS
        waiting = [
            key
            for key, ticket in self.tickets.items()
            if key not in self.encoded
            and not any(key in batch for batch in self.encoding)
            and not (ticket.aligned and crowded)
        ]
        batch = self.books.next_batch(0.0)
        if batch:
            assert batch[0] == min(waiting)
            self.encoding.append(batch)

    @precondition(lambda self: self.encoding)
    @rule()
    def finish_batch(self) -> None:
        batch = self.encoding.pop(0)
        self.books.encoded(batch)
        self.encoded |= {key for key in batch if key in self.tickets}

    @rule(again=st.booleans())
    def take_turn(self, again: bool) -> None:
        """The aligner takes one request after the other; some come back."""
        key = self.books.next_alignment()
        assert key == (self.turns.pop(0) if self.turns else None)
        if again and key is not None:
            self.books.align(key)
            self.turns.append(key)

    @rule()
    def align_decoded(self) -> None:
        """What has been decoded may have to be aligned."""
        for key, rows in list(self.running.items()):
            if self.branches[key] == 0 and key not in self.turns:
                self.books.release(rows, self.tickets[key].worker or 0)
                self.running[key] = 0
                self.books.align(key)
                self.turns.append(key)
                break

    @rule()
    def admit(self) -> None:
        for key in self.books.admit():
            ready = [k for k in self.encoded if self.branches[k] > 0]
            assert key == min(ready)
            self.branches[key] -= 1
            self.running[key] = self.running.get(key, 0) + self.tickets[key].width
        ready = [k for k in self.encoded if self.branches[k] > 0]
        if ready:
            assert self.tickets[min(ready)].width > self.books.free_rows

    @rule(key=consumes(live))
    def end(self, key: int) -> None:
        self.books.remove(key)
        self.books.release(self.running.pop(key, 0), self.tickets[key].worker or 0)
        self.encoded.discard(key)
        self.turns = [each for each in self.turns if each != key]
        del self.tickets[key], self.branches[key]

    @invariant()
    def rows_add_up(self) -> None:
        assert self.books.free_rows == ROWS - sum(self.running.values())
        assert self.books.free_rows >= 0

    @invariant()
    def rows_of_each_worker_add_up(self) -> None:
        given = [0] * WORKERS
        for key, rows in self.running.items():
            worker = self.tickets[key].worker
            assert worker is not None
            given[worker] += rows
        assert self.books._given_rows == given

    @invariant()
    def the_queue_adds_up(self) -> None:
        waiting = [key for key in self.tickets if key not in self.running]
        assert self.books.queued == len(waiting)

    @invariant()
    def held_tokens_add_up(self) -> None:
        ready = {key for key in self.encoded if self.branches[key] > 0}
        tickets = self.tickets
        assert self.books._held_tokens == sum(tickets[key].source_tokens for key in ready)
        turned = sum(ticket.source_tokens for ticket in tickets.values() if ticket.in_turn)
        assert self.books._aligned_tokens == turned
        assert all(tickets[key].in_turn for key in self.turns)


TestTraffic = Traffic.TestCase
TestTraffic.settings = settings(max_examples=60, stateful_step_count=40)


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, ROWS)), min_size=1, max_size=30))
def test_every_request_gets_its_rows_before_any_younger_ready_one(
    shapes: list[tuple[int, int]],
) -> None:
    books = scheduler(queued=len(shapes))
    for key, (length, width) in enumerate(shapes):
        books.add(Ticket(key, length, width))
    ready: set[int] = set()
    running: list[int] = []
    for _ in range(3 * len(shapes)):
        batch = books.next_batch(0.0)
        books.encoded(batch)
        ready |= set(batch)
        for key in books.admit():
            assert key == min(ready)
            ready.remove(key)
            running.append(key)
        if running:
            books.remove(running[0])
            books.release(shapes[running.pop(0)][1])
    assert books.queued == 0
