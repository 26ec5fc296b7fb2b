"""The distribution of the one token that follows a prefix."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.request import Candidate, NextTokenPrediction, Prefix, QueriedToken
from dragoman.engine.search.base import Search, Step, Trace
from dragoman.engine.search.ranking import best_places
from dragoman.engine.search.vocabulary import Vocabulary


class Prediction(Search):
    """Feeds a prefix and reads what the model expects after it."""

    __slots__ = (
        "_log_probabilities",
        "_position",
        "_prediction",
        "_prefix",
        "_queried",
        "_top_k",
        "_traced",
        "_vocabulary",
    )

    def __init__(
        self, vocabulary: Vocabulary, prefix: Prefix, top_k: int, queried: tuple[int, ...]
    ) -> None:
        """Begin a search.

        Args:
            vocabulary: the tokens.
            prefix: what is fed.
            top_k: candidates wanted.
            queried: tokens whose log-probability and rank are wanted.
        """
        super().__init__(width=1, candidates=top_k, all_log_probs=not prefix.ids)
        self._vocabulary = vocabulary
        self._prefix = prefix
        self._top_k = top_k
        self._queried = queried
        self._position = 0
        self._traced = False
        self._log_probabilities: list[float] = []
        self._prediction = NextTokenPrediction((), (), 0.0)

    @property
    def forced(self) -> tuple[int, ...]:
        """Tokens that it feeds in any case: all of its prefix."""
        return self._prefix.ids

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of its tokens, and note from now on how probable they are."""
        self._position = len(token_ids)
        self._log_probabilities = list(log_probabilities)
        self._traced = self.all_log_probs = True

    def trace(self) -> Trace | None:
        """Give the prefix as far as it was fed, if its log-probabilities were noted."""
        if not self._traced:
            return None
        ids = self._prefix.ids[: self._position]
        return Trace(self.rows[0], ids, self._log_probabilities)

    def advance(self, step: Step) -> bool:
        """Feed the next token of the prefix, or read the distribution after its last."""
        row = self.rows[0]
        ids = self._prefix.ids
        if self._position == len(ids):
            self._prediction = self._predict(step, row)
            self.chosen = 1
            return True
        token = step.next_ids[row] = ids[self._position]
        if self._traced:
            self._log_probabilities.append(float(step.output.log_probs[row, token]))
        self._position += 1
        self.all_log_probs = self._traced or self._position == len(ids)
        return False

    def prediction(self) -> NextTokenPrediction:
        """Give the answer, once the search is over."""
        return self._prediction

    def _predict(self, step: Step, row: int) -> NextTokenPrediction:
        log_probs = step.output.log_probs[row]
        # More than asked for may be there, for the sake of other rows: never look at it.
        top_ids = step.output.top_ids[row, : self._top_k]
        if self._prefix.starts_new_word:
            starts = self._vocabulary.word_starts
            best = starts[best_places(log_probs[starts], self._top_k)]
            candidates = _candidates(best, log_probs[best])
        else:
            candidates = _candidates(top_ids, step.output.top_log_probs[row, : self._top_k])
        known = top_ids.tolist()
        queried = tuple(
            QueriedToken(token, float(log_probs[token]), rank(log_probs, known, token))
            for token in self._queried
        )
        return NextTokenPrediction(candidates, queried, entropy(log_probs))


def _candidates(ids: NDArray[np.int64], log_probs: NDArray[np.float32]) -> tuple[Candidate, ...]:
    return tuple(map(Candidate, ids.tolist(), log_probs.tolist()))


def rank(log_probs: NDArray[np.float32], top_ids: list[int], token: int) -> int:
    """Give a token's place, from 1, by falling probability and, among equals, rising id.

    Args:
        log_probs: float32 [vocabulary].
        top_ids: the tokens that are known to come first, in their order.
        token: the token.
    """
    if token in top_ids:
        return top_ids.index(token) + 1
    value = log_probs[token]
    better = np.count_nonzero(log_probs > value)
    return int(better + np.count_nonzero(log_probs[:token] == value)) + 1


def entropy(log_probs: NDArray[np.float32]) -> float:
    """Give the entropy, in nats, of a distribution.

    Args:
        log_probs: float32 [vocabulary], natural logarithms of probabilities.
    """
    exact = log_probs.astype(np.float64)
    return float(-np.sum(np.exp(exact) * exact))
