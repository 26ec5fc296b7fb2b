"""An accepted request on its way through the engine."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from dragoman.engine.alignment import Aligning
from dragoman.engine.cache import Values
from dragoman.engine.observer import EngineObserver
from dragoman.engine.request import (
    EventCallback,
    FinishReason,
    Request,
    Result,
    TokensCommitted,
)
from dragoman.engine.scheduler import Ticket
from dragoman.engine.search import Search
from dragoman.engine.timing import RequestTiming


class Job(ABC):
    """A request, the searches that answer it, and its times by one monotonic clock.

    Attributes:
        ticket: what the scheduler knows of it.
        source_ids: tokens of its source.
        on_event: who hears of it.
        stream: whether committed tokens are reported as they come.
        searches: its branches.
        waiting: branches that have no rows yet, the next one last.
        running: branches that have rows.
        source: [layers, 2, heads, length, head_size], the encoded source while it is needed.
        submitted: when it was accepted.
        taken: when the encoder took it.
        first_token: when the first token after a prefix was chosen, or None.
        finishes_early: whether it ends with what it has when its deadline nears.
        aligning: what the aligner has to do for it, once that is known, or None.
    """

    def __init__(
        self,
        key: int,
        request: Request,
        searches: Sequence[Search],
        on_event: EventCallback,
        *,
        aligned: bool = False,
    ) -> None:
        """Begin a job of at least one search."""
        self.ticket = Ticket(
            key=key,
            source_tokens=len(request.source_ids),
            width=searches[0].most_rows,
            branches=len(searches),
            deadline=request.deadline,
            aligned=aligned,
        )
        self.source_ids = request.source_ids
        self.on_event = on_event
        self.stream = False
        self.searches = searches
        self.waiting = list(reversed(searches))
        self.running: list[Search] = []
        self.source: Values | None = None
        self.submitted = 0.0
        self.taken = 0.0
        self.first_token: float | None = None
        self.finishes_early = False
        self.aligning: Aligning | None = None

    @property
    def aligned(self) -> bool:
        """Whether its answer contains alignments."""
        return self.ticket.aligned

    @property
    def rows(self) -> int:
        """Rows that are set aside for it now."""
        return sum(search.most_rows for search in self.running)

    @property
    def chosen(self) -> int:
        """Tokens that the model chose."""
        return sum(search.chosen for search in self.searches)

    def timing(self, now: float) -> RequestTiming:
        """Give the times of a job that is over now."""
        first = now if self.first_token is None else self.first_token
        return RequestTiming(
            queue=self.taken - self.submitted,
            first_token=first - self.submitted,
            total=now - self.submitted,
        )

    @property
    def finish_reason(self) -> FinishReason | None:
        """Of the best hypothesis, once all branches are over; None where there is none."""
        return None

    def cut(self) -> bool:
        """End it because of the deadline; whether there is anything to show for it."""
        return False

    def last_tokens(self) -> TokensCommitted | None:
        """Give what is to be streamed of the answer and couldn't be streamed before."""
        return None

    def plan_alignment(self) -> Aligning | None:
        """Say what is to be aligned before the answer, once all branches are over."""
        return None

    def report(self, observer: EngineObserver, now: float) -> None:
        """Tell that it is answered now."""
        first = now if self.first_token is None else self.first_token
        observer.request_finished(
            self.finish_reason, self.chosen, len(self.source_ids), now - first
        )

    @abstractmethod
    def result(self, now: float) -> Result:
        """Give the answer, once all branches are over."""
