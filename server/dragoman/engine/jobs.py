"""One accepted request on its way through the engine."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.options import EngineLimits
from dragoman.engine.request import (
    EventCallback,
    FinishReason,
    NextTokenRequest,
    NextTokenResult,
    Prefix,
    Request,
    RequestTiming,
    Result,
    TranslationRequest,
    TranslationResult,
)
from dragoman.engine.scheduler import Ticket
from dragoman.engine.search import Greedy, Prediction, Search, Vocabulary


class Job(ABC):
    """A request, the searches that answer it, and its times by one monotonic clock.

    Attributes:
        ticket: what the scheduler knows of it.
        source_ids: tokens of its source.
        on_event: who hears of it.
        stream: whether committed tokens are reported.
        searches: its branches.
        waiting: branches that have no rows yet, the next one last.
        running: branches that have rows.
        source: float32 [layers, 2, heads, length, head_size], the encoded source while it waits.
        submitted: when it was accepted.
        taken: when the encoder took it.
        first_token: when the first token after a prefix was chosen, or None.
    """

    def __init__(
        self, key: int, request: Request, searches: Sequence[Search], on_event: EventCallback
    ) -> None:
        """Begin a job."""
        self.ticket = Ticket(
            key=key,
            source_tokens=len(request.source_ids),
            width=searches[0].width,
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

    @property
    def rows(self) -> int:
        """Rows that it has now."""
        return sum(search.width for search in self.running)

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

    @abstractmethod
    def result(self, now: float) -> Result:
        """Give the answer, once all branches are over."""


class TranslationJob(Job):
    """A translation by one greedy search."""

    def __init__(
        self,
        key: int,
        request: TranslationRequest,
        vocabulary: Vocabulary,
        limits: EngineLimits,
        on_event: EventCallback,
    ) -> None:
        """Begin a job for a request that was checked."""
        prefix = Prefix(request.prefix_ids, request.starts_new_word)
        limit = request.options.max_output_tokens or limits.max_target_tokens
        self._search = Greedy(vocabulary, prefix, limit)
        super().__init__(key, request, [self._search], on_event)
        self.stream = request.stream

    @property
    def finish_reason(self) -> FinishReason:
        """Why the output ended."""
        return self._search.finish_reason

    def result(self, now: float) -> TranslationResult:
        """Give the translation."""
        hypotheses = (self._search.hypothesis(),)
        return TranslationResult(hypotheses, len(self.source_ids), self.timing(now))


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
