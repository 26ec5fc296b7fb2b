"""One accepted request on its way through the engine."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.decoding import OnDeadline
from dragoman.engine.options import EngineLimits
from dragoman.engine.request import (
    EventCallback,
    FinishReason,
    Hypothesis,
    NextTokenRequest,
    NextTokenResult,
    Request,
    RequestTiming,
    Result,
    TokensCommitted,
    TranslationRequest,
    TranslationResult,
)
from dragoman.engine.scheduler import Ticket
from dragoman.engine.search import (
    Prediction,
    Search,
    TranslationSearch,
    Vocabulary,
    plan_searches,
)

# How long before its deadline a request ends that wants the best so far: time for the step that
# is under way and for the answer to travel.
DEADLINE_MARGIN = 0.05


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
        source: float32 [layers, 2, heads, length, head_size], the encoded source while it waits.
        submitted: when it was accepted.
        taken: when the encoder took it.
        first_token: when the first token after a prefix was chosen, or None.
        finishes_early: whether it ends with what it has when its deadline nears.
    """

    def __init__(
        self, key: int, request: Request, searches: Sequence[Search], on_event: EventCallback
    ) -> None:
        """Begin a job."""
        self.ticket = Ticket(
            key=key,
            source_tokens=len(request.source_ids),
            width=searches[0].most_rows,
            branches=len(searches),
            deadline=request.deadline,
        )
        self.source_ids = request.source_ids
        self.on_event = on_event
        self.stream = False
        self.searches = searches
        self.waiting = list(reversed(searches))
        self.running: list[Search] = []
        self.source: NDArray[np.float32] | None = None
        self.submitted = 0.0
        self.taken = 0.0
        self.first_token: float | None = None
        self.finishes_early = False

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

    @abstractmethod
    def result(self, now: float) -> Result:
        """Give the answer, once all branches are over."""


class TranslationJob(Job):
    """A translation by one search, or by several: one for each sample or alternative."""

    def __init__(
        self,
        key: int,
        request: TranslationRequest,
        vocabulary: Vocabulary,
        limits: EngineLimits,
        on_event: EventCallback,
    ) -> None:
        """Begin a job for a request that was checked."""
        self._searches = plan_searches(request, vocabulary, limits)
        super().__init__(key, request, self._searches, on_event)
        self._options = request.options
        self.stream = request.stream and len(self._searches) == 1
        self._streams_late = request.stream and not self.stream
        self.finishes_early = request.options.on_deadline is OnDeadline.BEST
        if self.finishes_early and request.deadline is not None:
            self.ticket.deadline = request.deadline - DEADLINE_MARGIN

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the best output ended."""
        hypotheses = self._hypotheses()
        return hypotheses[0].finish_reason if hypotheses else None

    def cut(self) -> bool:
        """End all branches because of the deadline; whether there is anything to show for it."""
        for search in self.running:
            if isinstance(search, TranslationSearch) and search.chosen:
                search.cut()
        return self.chosen > 0 and bool(self._hypotheses())

    def _hypotheses(self) -> tuple[Hypothesis, ...]:
        """Choose the outputs that are given back."""
        found = [search.hypotheses() for search in self._searches]
        if self._options.alternatives:
            return tuple(best[0] for best in found if best)
        ranked = sorted(chain.from_iterable(found), key=lambda hypothesis: -hypothesis.score)
        return tuple(ranked[: self._options.hypothesis_count])

    def last_tokens(self) -> TokensCommitted | None:
        """Give the first of several outputs, if it is to be streamed."""
        if not self._streams_late:
            return None
        first = self._hypotheses()[0]
        return TokensCommitted(first.token_ids, first.log_probabilities[: len(first.token_ids)])

    def result(self, now: float) -> TranslationResult:
        """Give the translation."""
        return TranslationResult(self._hypotheses(), len(self.source_ids), self.timing(now))


class NextTokenJob(Job):
    """Predictions after several prefixes of one source."""

    def __init__(
        self, key: int, request: NextTokenRequest, vocabulary: Vocabulary, on_event: EventCallback
    ) -> None:
        """Begin a job for a request that was checked."""
        self._predictions = [
            Prediction(vocabulary, prefix, request.top_k, request.queried_ids)
            for prefix in request.prefixes
        ]
        super().__init__(key, request, self._predictions, on_event)

    def result(self, now: float) -> NextTokenResult:
        """Give the predictions in the order of the prefixes."""
        predictions = tuple(search.prediction() for search in self._predictions)
        return NextTokenResult(predictions, len(self.source_ids), self.timing(now))


def make_job(
    key: int,
    request: Request,
    vocabulary: Vocabulary,
    limits: EngineLimits,
    on_event: EventCallback,
) -> Job:
    """Begin a job for a request that was checked."""
    if isinstance(request, TranslationRequest):
        return TranslationJob(key, request, vocabulary, limits, on_event)
    return NextTokenJob(key, request, vocabulary, on_event)
