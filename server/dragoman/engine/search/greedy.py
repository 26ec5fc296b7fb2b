"""The most probable token, again and again."""

import math
from collections.abc import Sequence

from dragoman.engine.request import FinishReason, Hypothesis, Prefix
from dragoman.engine.search.base import Step, Trace, TranslationSearch
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.vocabulary import Vocabulary


class Greedy(TranslationSearch):
    """Takes the best token at each position after a forced prefix: a beam search of width 1.

    Padding, begin-of-sentence and the unknown token are never chosen, and end-of-sentence isn't
    chosen as the very first token: a source that isn't empty gets a translation that isn't.
    Whatever else an option may ask for is left to `Single`, so that this stays short.

    Attributes:
        finish_reason: why it ended, once it is over.
    """

    __slots__ = (
        "_committed",
        "_free_from",
        "_log_probabilities",
        "_penalty",
        "_prefix",
        "_token_ids",
        "_vocabulary",
        "finish_reason",
    )

    def __init__(
        self, vocabulary: Vocabulary, prefix: Prefix, penalty: LengthPenalty, least: int = 0
    ) -> None:
        """Begin a search.

        Args:
            vocabulary: the tokens.
            prefix: what the output starts with, shorter than the penalty's `limit`.
            penalty: of the score, and the most tokens of the output, end-of-sentence included.
            least: fewest tokens of the output, end-of-sentence included.
        """
        guided = bool(prefix.ids) or prefix.starts_new_word
        # Four tokens may be excluded, so the fifth best is always allowed.
        super().__init__(width=1, candidates=5, all_log_probs=guided)
        self._vocabulary = vocabulary
        self._prefix = prefix
        self._penalty = penalty
        self._free_from = max(1, len(prefix.ids) + prefix.starts_new_word, least - 1)
        self._token_ids: list[int] = []
        self._log_probabilities: list[float] = []
        self._committed = 0
        self.finish_reason = FinishReason.LENGTH

    @property
    def forced(self) -> tuple[int, ...]:
        """Tokens that it feeds first in any case."""
        return self._prefix.ids

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of the forced tokens."""
        self._token_ids = list(token_ids)
        self._log_probabilities = list(log_probabilities)
        self.all_log_probs = self._is_guided(len(token_ids))

    def trace(self) -> Trace:
        """Give the output so far."""
        return Trace(self.rows[0], tuple(self._token_ids), self._log_probabilities)

    def advance(self, step: Step) -> bool:
        """Choose the next token; the search ends with end-of-sentence or at its limit."""
        row = self.rows[0]
        position = len(self._token_ids)
        token = step.best_ids[row]
        if position < self._free_from:
            token, log_probability = self._guided(step, row, position)
        elif token in self._vocabulary.never:
            token, log_probability = self._first_allowed(step, row)
        else:
            log_probability = step.best_log_probabilities[row]
            self.chosen += 1
        self._log_probabilities.append(log_probability)
        if token == self._vocabulary.eos:
            self.finish_reason = FinishReason.STOP
            return True
        self._token_ids.append(token)
        step.next_ids[row] = token
        return position + 1 == self._penalty.limit

    def _guided(self, step: Step, row: int, position: int) -> tuple[int, float]:
        forced = self._prefix.ids
        self.all_log_probs = self._is_guided(position + 1)
        if position < len(forced):
            return forced[position], float(step.output.log_probs[row, forced[position]])
        if position == len(forced) and self._prefix.starts_new_word:
            return self._word_start(step, row)
        return self._first_allowed(step, row, excluded=self._vocabulary.eos)

    def _is_guided(self, position: int) -> bool:
        return position < len(self._prefix.ids) + self._prefix.starts_new_word

    def _word_start(self, step: Step, row: int) -> tuple[int, float]:
        self.chosen += 1
        starts = self._vocabulary.word_starts
        log_probs = step.output.log_probs[row, starts]
        best = int(log_probs.argmax())
        return int(starts[best]), float(log_probs[best])

    def _first_allowed(self, step: Step, row: int, excluded: int = -1) -> tuple[int, float]:
        self.chosen += 1
        ids: list[int] = step.output.top_ids[row].tolist()
        never = self._vocabulary.never
        place = next(i for i, token in enumerate(ids) if token not in never and token != excluded)
        return ids[place], float(step.output.top_log_probs[row, place])

    def take_committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Give what was chosen or forced since the last call: greedy never changes its mind."""
        start, self._committed = self._committed, len(self._token_ids)
        ids = tuple(self._token_ids[start:])
        return ids, tuple(self._log_probabilities[start : self._committed])

    def cut(self) -> None:
        """End with what there is."""
        self.finish_reason = FinishReason.DEADLINE

    def hypotheses(self) -> list[Hypothesis]:
        """Give the output, once the search is over."""
        values = tuple(self._log_probabilities)
        score = self._penalty.score(math.fsum(values), len(values))
        return [Hypothesis(tuple(self._token_ids), values, self.finish_reason, score)]
