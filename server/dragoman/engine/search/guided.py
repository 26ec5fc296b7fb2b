"""What searches share that follow the rules of a request."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from dragoman.engine.request import FinishReason, Hypothesis
from dragoman.engine.search.base import Step, TranslationSearch
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.ranking import best_finite_places
from dragoman.engine.search.rules import Partial, Rules
from dragoman.engine.sessions import MOST_CANDIDATES


class Guided(TranslationSearch):
    """Feeds a forced prefix on one row, then perhaps an alternative after it, then searches.

    Of each step it asks for a few top tokens where these must hold what it needs, and for every
    token's log-probability otherwise; which of the two depends on its own request alone.
    """

    __slots__ = (
        "_alternative",
        "_ends_apart",
        "_excluded",
        "_penalty",
        "_rules",
        "_wanted",
        "_whole_rows",
    )

    def __init__(
        self,
        rules: Rules,
        penalty: LengthPenalty,
        wanted: int,
        *,
        most_rows: int = 1,
        ends_apart: bool = False,
        whole_rows: bool = False,
        alternative: int | None = None,
    ) -> None:
        """Begin a search.

        Args:
            rules: what the request forbids and prefers.
            penalty: of the score.
            wanted: allowed tokens that it needs to see of each row.
            most_rows: rows that it may come to have.
            ends_apart: whether end-of-sentence, where allowed, comes on top of `wanted`.
            whole_rows: whether it needs to see all of them in any case.
            alternative: place, from 0, among the allowed tokens right after the prefix, of the
                one that the output goes on with; None leaves it to the search.
        """
        super().__init__(width=1, candidates=1, all_log_probs=True, most_rows=most_rows)
        self._rules = rules
        self._penalty = penalty
        self._wanted = wanted
        self._ends_apart = ends_apart
        self._whole_rows = whole_rows
        self._alternative = alternative
        self._excluded: list[AbstractSet[int]] = []

    def _begin(self) -> Partial:
        start = Partial()
        self._ask([start])
        return start

    @property
    def forced(self) -> tuple[int, ...]:
        """Tokens that it feeds first in any case."""
        return self._rules.forced

    def _known(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> Partial:
        """Give an output that begins with forced tokens of known log-probabilities."""
        partial = Partial()
        for token, log_prob in zip(token_ids, log_probabilities, strict=True):
            partial = self._follow(partial, token, log_prob)
        return partial

    def _ask(self, partials: Sequence[Partial]) -> None:
        """Say what is needed of the next step, for outputs of equal length."""
        rules, tokens = self._rules, partials[0].tokens
        if len(tokens) < len(rules.forced):
            self.candidates, self.all_log_probs = 1, True
            return
        if rules.same_for_all(tokens):
            self._excluded = [rules.excluded(tokens)] * len(partials)
            changed = rules.changes(tokens)
        else:
            self._excluded = [rules.excluded(partial.tokens) for partial in partials]
            changed = any(rules.changes(partial.tokens) for partial in partials)
        wanted = self._wanted + max(map(len, self._excluded))
        if self._ends_apart and rules.vocabulary.eos not in self._excluded[0]:
            wanted += 1
        if self._at_alternative(tokens):
            wanted += (self._alternative or 0) + 1
            changed = changed or rules.begins_word(tokens)
        self.all_log_probs = changed or self._whole_rows or wanted > MOST_CANDIDATES
        self.candidates = 1 if self.all_log_probs else min(wanted, rules.vocabulary.size)

    def _at_alternative(self, tokens: tuple[int, ...]) -> bool:
        return self._alternative is not None and len(tokens) == len(self._rules.forced)

    def _force(self, step: Step, partial: Partial) -> Partial | None:
        """Feed what the request prescribes at this place; None where it prescribes nothing."""
        position = len(partial.tokens)
        if position < len(self._rules.forced):
            token = self._rules.forced[position]
            return self._follow(partial, token, float(step.output.log_probs[self.rows[0], token]))
        return None

    def _follow(self, partial: Partial, token: int, log_prob: float) -> Partial:
        total = partial.total + log_prob + self._rules.bonus(partial, token)
        return self._rules.extend(partial, token, log_prob, total)

    def _alternative_token(self, step: Step, partial: Partial) -> tuple[int, float] | None:
        """Give the prescribed one of the allowed tokens, by the model's own log-probabilities."""
        rank, row, output = self._alternative or 0, self.rows[0], step.output
        if self.all_log_probs:
            log_probs = output.log_probs[row]
            places = best_finite_places(self._rules.allow(log_probs, partial.tokens), rank + 1)
            allowed = [(int(place), float(log_probs[place])) for place in places]
        else:
            allowed = self._allowed(step, row, 0)
        return allowed[rank] if rank < len(allowed) else None

    def _allowed(self, step: Step, row: int, place: int) -> list[tuple[int, float]]:
        """Give the allowed ones of a row's top tokens, best first, and their log-probabilities."""
        output, excluded = step.output, self._excluded[place]
        ids: list[int] = output.top_ids[row, : self.candidates].tolist()
        values: list[float] = output.top_log_probs[row, : self.candidates].tolist()
        return [pair for pair in zip(ids, values, strict=True) if pair[0] not in excluded]

    def _cut_hypothesis(self, partial: Partial, reason: FinishReason) -> Hypothesis:
        """Give an output that doesn't end by itself."""
        total = partial.total - self._rules.unfinished_bonus(partial)
        score = self._penalty.score(total, max(1, len(partial.tokens)))
        return Hypothesis(
            partial.tokens, partial.log_probabilities, reason, score, self._rules.met_terms(partial)
        )

    def _ended_hypothesis(self, partial: Partial, total: float, log_prob: float) -> Hypothesis:
        """Give an output that ends with end-of-sentence, of that log-probability."""
        values = (*partial.log_probabilities, log_prob)
        score = self._penalty.score(total, len(values))
        met = self._rules.met_terms(partial)
        return Hypothesis(partial.tokens, values, FinishReason.STOP, score, met)
