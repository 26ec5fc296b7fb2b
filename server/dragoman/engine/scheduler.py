"""Who is encoded and who gets a row next. It decides; others do.

A request waits, is encoded in a batch, is ready, and then gets rows: one branch of it after the
other, each branch `width` rows at once. Outputs of some are aligned after that, one output at a
time, in turn.

The oldest waiting request is in every next batch, and the oldest ready one gets the next free
rows even if a younger one would fit better: no request is ever passed over for good. But those
that are to be aligned wait while the sources of others before them pile up there: nobody else
shall wait for alignments.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

# A batch takes a source in where all padding stays below a quarter of the real tokens, plus a
# little: a batch of its own would cost more than that.
_WASTE_SHARE = 0.25
_WASTE_TOKENS = 8
_LOOK_AHEAD = 128
_STALE_DEADLINES = 64


@dataclass(slots=True)
class Ticket:
    """What the scheduler knows of a request.

    Attributes:
        key: its number; numbers rise with arrival.
        source_tokens: length of its source.
        width: rows that each of its branches takes.
        branches: branches that have no rows yet.
        deadline: time from which on it is expired, or None.
        aligned: whether its outputs are to be aligned.
        worker: the step loop that decodes it, or None before it gets rows.
    """

    key: int
    source_tokens: int
    width: int = 1
    branches: int = 1
    deadline: float | None = None
    aligned: bool = False
    queued: bool = field(default=True, init=False)
    holds: bool = field(default=False, init=False)
    in_turn: bool = field(default=False, init=False)
    worker: int | None = field(default=None, init=False)

    def expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.deadline is not None and self.deadline <= now


class Scheduler:
    """Decides on batches and rows. It knows no clock: time is passed in."""

    def __init__(
        self, max_rows: int, max_queued: int, max_batch_tokens: int, workers: int = 1
    ) -> None:
        """Begin with all rows free.

        Args:
            max_rows: rows there are, over all step loops.
            max_queued: most requests that have no rows yet.
            max_batch_tokens: most padded tokens of a batch; about as many encoded ones may wait
                for rows, and as many for their alignment.
            workers: step loops among which requests are divided.
        """
        self.free_rows = max_rows
        self.workers = workers
        self._given_rows = [0] * workers
        self.queued = 0
        self._max_queued = max_queued
        self._max_batch_tokens = max_batch_tokens
        self._tickets: dict[int, Ticket] = {}
        self._waiting: dict[int, Ticket] = {}
        self._ready: dict[int, Ticket] = {}
        self._ready_keys: list[int] = []
        self._turns: dict[int, Ticket] = {}
        self._held_tokens = 0
        self._aligned_tokens = 0
        self._deadlines: list[tuple[float, int]] = []

    @property
    def full(self) -> bool:
        """Whether no more requests may be added."""
        return self.queued >= self._max_queued

    def add(self, ticket: Ticket) -> None:
        """Take in a request, younger than all before it, whose source must be encoded."""
        self._tickets[ticket.key] = self._waiting[ticket.key] = ticket
        self.queued += 1
        if ticket.deadline is not None:
            heapq.heappush(self._deadlines, (ticket.deadline, ticket.key))

    def next_batch(self, now: float) -> list[int]:
        """Take the requests to encode next out of the waiting ones.

        The oldest that isn't expired is always among them. While encoded sources enough wait to
        be used, nothing is taken.
        """
        if self._held_tokens >= self._max_batch_tokens:
            return []
        free = (ticket for ticket in self._waiting.values() if self._may_begin(ticket, now))
        batch = list(self._fitting(islice(free, _LOOK_AHEAD)))
        for key in batch:
            del self._waiting[key]
        return batch

    def _may_begin(self, ticket: Ticket, now: float) -> bool:
        crowded = ticket.aligned and self._aligned_tokens >= self._max_batch_tokens
        return not crowded and not ticket.expired(now)

    def _fitting(self, candidates: Iterable[Ticket]) -> Iterator[int]:
        longest = real = count = 0
        for ticket in candidates:
            new_longest = max(longest, ticket.source_tokens)
            new_real = real + ticket.source_tokens
            padded = new_longest * (count + 1)
            allowed = new_real * (1 + _WASTE_SHARE) + _WASTE_TOKENS
            if count and padded > min(allowed, self._max_batch_tokens):
                continue
            longest, real, count = new_longest, new_real, count + 1
            yield ticket.key

    def encoded(self, keys: Iterable[int]) -> None:
        """Note that requests are encoded; those that were removed meanwhile are passed over."""
        for key in keys:
            ticket = self._tickets.get(key)
            if ticket is not None:
                self._held_tokens += ticket.source_tokens
                ticket.holds = True
                self._ready[key] = ticket
                heapq.heappush(self._ready_keys, key)

    def align(self, key: int) -> None:
        """Let a request whose branches are over have its turn at the aligner, perhaps again."""
        ticket = self._tickets[key]
        if not ticket.in_turn:
            self._aligned_tokens += ticket.source_tokens
            ticket.in_turn = True
        self._turns[key] = ticket

    def next_alignment(self) -> int | None:
        """Take the request out whose turn at the aligner it is; it may come back for another."""
        if not self._turns:
            return None
        key = next(iter(self._turns))
        del self._turns[key]
        return key

    def admit(self) -> list[int]:
        """Give free rows to branches of ready requests, oldest first.

        The first branch decides on the request's worker: the one with the fewest rows.

        Returns:
            The key of the request, once for each branch that gets its rows now.
        """
        admitted: list[int] = []
        while self._ready and (ticket := self._oldest_ready()).width <= self.free_rows:
            if ticket.worker is None:
                ticket.worker = self._given_rows.index(min(self._given_rows))
            self.free_rows -= ticket.width
            self._given_rows[ticket.worker] += ticket.width
            self._start_branch(ticket)
            admitted.append(ticket.key)
        return admitted

    def has_work(self, now: float) -> bool:
        """Whether `admit` or `expired` would give something now."""
        if self._deadlines and self._deadlines[0][0] <= now:
            return True
        return bool(self._ready) and self._oldest_ready().width <= self.free_rows

    def _oldest_ready(self) -> Ticket:
        while self._ready_keys[0] not in self._ready:
            heapq.heappop(self._ready_keys)
        return self._ready[self._ready_keys[0]]

    def _start_branch(self, ticket: Ticket) -> None:
        self._leave_queue(ticket)
        ticket.branches -= 1
        if ticket.branches == 0:
            self._leave_ready(ticket)

    def _leave_queue(self, ticket: Ticket) -> None:
        self.queued -= ticket.queued
        ticket.queued = False

    def _leave_ready(self, ticket: Ticket) -> None:
        self._ready.pop(ticket.key, None)
        if ticket.holds:
            self._held_tokens -= ticket.source_tokens
            ticket.holds = False

    def release(self, rows: int, worker: int = 0) -> None:
        """Take rows back that branches of a worker need no more."""
        self.free_rows += rows
        self._given_rows[worker] -= rows

    def remove(self, key: int) -> None:
        """Forget a request, wherever it stands; its rows are released apart from that."""
        ticket = self._tickets.pop(key)
        self._waiting.pop(key, None)
        self._turns.pop(key, None)
        self._aligned_tokens -= ticket.source_tokens * ticket.in_turn
        self._leave_ready(ticket)
        self._leave_queue(ticket)
        if len(self._deadlines) > 2 * len(self._tickets) + _STALE_DEADLINES:
            self._forget_stale_deadlines()

    def expired(self, now: float) -> list[int]:
        """Give the requests whose deadline has passed; the caller removes them."""
        keys: list[int] = []
        while self._deadlines and self._deadlines[0][0] <= now:
            key = heapq.heappop(self._deadlines)[1]
            if key in self._tickets:
                keys.append(key)
        return keys

    @property
    def next_deadline(self) -> float | None:
        """The earliest time at which `expired` may give something, or None."""
        return self._deadlines[0][0] if self._deadlines else None

    def _forget_stale_deadlines(self) -> None:
        self._deadlines = [entry for entry in self._deadlines if entry[1] in self._tickets]
        heapq.heapify(self._deadlines)
