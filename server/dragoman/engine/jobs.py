"""What each kind of request needs done and how it is answered."""

from dataclasses import replace
from itertools import chain

from dragoman.engine.alignment import Aligning, Target
from dragoman.engine.decoding import OnDeadline
from dragoman.engine.job import Job
from dragoman.engine.observer import EngineObserver
from dragoman.engine.options import EngineLimits
from dragoman.engine.request import (
    EventCallback,
    FinishReason,
    Hypothesis,
    NextTokenRequest,
    NextTokenResult,
    Request,
    TokensCommitted,
    TranslationRequest,
    TranslationResult,
)
from dragoman.engine.score import Alignment, ScoreRequest, ScoreResult, TargetScore
from dragoman.engine.search import Forced, Prediction, TranslationSearch, Vocabulary, plan_searches

# How long before its deadline a request ends that wants the best so far: time for the step that
# is under way and for the answer to travel.
DEADLINE_MARGIN = 0.05


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
        aligned = request.options.return_alignment
        super().__init__(key, request, self._searches, on_event, aligned=aligned)
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

    def plan_alignment(self) -> Aligning | None:
        """Let the outputs be aligned, if that is wanted."""
        if not self.aligned:
            return None
        ended = FinishReason.STOP
        found = self._hypotheses()
        targets = [Target(each.token_ids, each.finish_reason is ended) for each in found]
        return Aligning(targets) if targets else None

    def result(self, now: float) -> TranslationResult:
        """Give the translation."""
        hypotheses = self._hypotheses()
        if self.aligning is not None and self.aligning.done:
            pairs = zip(hypotheses, self.aligning.alignments, strict=True)
            hypotheses = tuple(replace(each, alignment=alignment) for each, alignment in pairs)
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


class ScoreJob(Job):
    """Scores of given translations, each stepped through by itself."""

    def __init__(
        self, key: int, request: ScoreRequest, vocabulary: Vocabulary, on_event: EventCallback
    ) -> None:
        """Begin a job for a request that was checked."""
        self._targets = request.targets
        self._forced = [Forced(ids, vocabulary.eos) for ids in request.targets]
        super().__init__(key, request, self._forced, on_event, aligned=request.return_alignment)

    def plan_alignment(self) -> Aligning | None:
        """Let the translations be aligned, if that is wanted."""
        return Aligning([Target(ids) for ids in self._targets]) if self.aligned else None

    def report(self, observer: EngineObserver, now: float) -> None:
        """Tell that it is answered now."""
        tokens = sum(len(ids) + 1 for ids in self._targets)
        observer.request_scored(len(self._targets), tokens, now - self.taken)

    def result(self, now: float) -> ScoreResult:
        """Give the scores in the order of the targets."""
        found: list[Alignment | None] = [None] * len(self._forced)
        if self.aligning is not None:
            found = list(self.aligning.alignments)
        scores = tuple(
            TargetScore(search.log_probabilities, alignment)
            for search, alignment in zip(self._forced, found, strict=True)
        )
        return ScoreResult(scores, len(self.source_ids), self.timing(now))


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
    if isinstance(request, ScoreRequest):
        return ScoreJob(key, request, vocabulary, on_event)
    return NextTokenJob(key, request, vocabulary, on_event)
