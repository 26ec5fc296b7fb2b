"""One output, token by token, by the rules of its request: the best token, or one drawn."""

from collections.abc import Sequence

import numpy as np

from dragoman.engine.request import FinishReason, Hypothesis
from dragoman.engine.search.base import Step, Trace
from dragoman.engine.search.guided import Guided
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.rules import Rules
from dragoman.engine.search.sampling import Sampler

_Choice = tuple[int, float, float]


class Single(Guided):
    """Keeps one output and never changes its mind."""

    __slots__ = ("_committed", "_outcome", "_partial", "_sampler")

    def __init__(
        self,
        rules: Rules,
        penalty: LengthPenalty,
        sampler: Sampler | None,
        *,
        top_k: int = 1,
        alternative: int | None = None,
    ) -> None:
        """Begin a search.

        Args:
            rules: what the request forbids and prefers.
            penalty: of the score.
            sampler: draws the tokens; None takes the best.
            top_k: tokens that it chooses among; 0 for all.
            alternative: see `Guided`.
        """
        super().__init__(rules, penalty, top_k, whole_rows=not top_k, alternative=alternative)
        self._sampler = sampler
        self._partial = self._begin()
        self._outcome: list[Hypothesis] = []
        self._committed = 0

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of the forced tokens."""
        self._partial = self._known(token_ids, log_probabilities)
        self._ask([self._partial])

    def trace(self) -> Trace:
        """Give the output so far."""
        return Trace(self.rows[0], self._partial.tokens, self._partial.log_probabilities)

    def advance(self, step: Step) -> bool:
        """Choose the next token; the search ends with end-of-sentence or at its limit."""
        partial = self._force(step, self._partial)
        if partial is None:
            self.chosen += 1
            choice = self._choose(step)
            if choice is None:
                return self._end_without_choice()
            token, log_prob, total = choice
            if token == self._rules.vocabulary.eos:
                self._outcome = [self._ended_hypothesis(self._partial, total, log_prob)]
                return True
            partial = self._rules.extend(self._partial, token, log_prob, total)
        self._partial = partial
        step.next_ids[self.rows[0]] = partial.tokens[-1]
        if len(partial.tokens) == self._penalty.limit:
            self._outcome = [self._cut_hypothesis(partial, FinishReason.LENGTH)]
            return True
        self._ask([partial])
        return False

    def _end_without_choice(self) -> bool:
        """End where no token is allowed: an alternative that isn't there has no outcome."""
        if not self._at_alternative(self._partial.tokens):
            self._outcome = [self._cut_hypothesis(self._partial, FinishReason.LENGTH)]
        return True

    def _choose(self, step: Step) -> _Choice | None:
        """Give a token, its log-probability and the new total, or None where none is allowed."""
        partial = self._partial
        if self._at_alternative(partial.tokens):
            found = self._alternative_token(step, partial)
            if found is None:
                return None
            return (*found, partial.total + found[1] + self._rules.bonus(partial, found[0]))
        return self._from_row(step) if self.all_log_probs else self._from_top(step)

    def _from_top(self, step: Step) -> _Choice | None:
        allowed = self._allowed(step, self.rows[0], 0)[: self._wanted]
        if not allowed:
            return None
        place = 0
        if self._sampler is not None:
            values = np.array([value for _, value in allowed], np.float32)
            place = self._sampler.draw(values, len(self._partial.tokens))
        token, log_prob = allowed[place]
        return token, log_prob, self._partial.total + log_prob

    def _from_row(self, step: Step) -> _Choice | None:
        log_probs = step.output.log_probs[self.rows[0]]
        changed = self._rules.change(log_probs, self._partial)
        token = int(changed.argmax())
        if changed[token] == -np.inf:
            return None
        if self._sampler is not None:
            token = self._sampler.draw(changed, len(self._partial.tokens))
        return token, float(log_probs[token]), self._partial.total + float(changed[token])

    def take_committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Give what was chosen or forced since the last call."""
        start, self._committed = self._committed, len(self._partial.tokens)
        return self._partial.tokens[start:], self._partial.log_probabilities[start:]

    def cut(self) -> None:
        """End with what there is."""
        self._outcome = [self._cut_hypothesis(self._partial, FinishReason.DEADLINE)]

    def hypotheses(self) -> list[Hypothesis]:
        """Give the output, once the search is over."""
        return self._outcome
