"""What a request forbids, and how it changes the model's probabilities.

Whatever is said here about a next token depends on the request and on the output so far alone.
"""

import math
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.decoding import DecodingOptions
from dragoman.engine.request import Prefix
from dragoman.engine.search.terms import Terms, TermState
from dragoman.engine.search.vocabulary import Vocabulary

_NOTHING: frozenset[int] = frozenset()


class Partial(NamedTuple):
    """An output that isn't finished.

    Attributes:
        tokens: its tokens so far, without begin-of-sentence.
        log_probabilities: of each, as the model gave it.
        total: their sum, as changed by the rules.
        terms: how far it has come with the terms.
    """

    tokens: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    total: float = 0.0
    terms: TermState = TermState()


class Rules:
    """The rules of one request.

    Attributes:
        vocabulary: the tokens.
        forced: tokens that the output begins with, whatever the model says of them.
        limit: most tokens of the output, end-of-sentence included.
        terms: the wordings that it must or should contain, or None.
        constrained: whether it must contain some.
    """

    def __init__(
        self, vocabulary: Vocabulary, prefix: Prefix, limit: int, options: DecodingOptions
    ) -> None:
        """Note the rules of a request that was checked."""
        self.vocabulary = vocabulary
        self.limit = limit
        self.forced = prefix.ids if options.prefix_bias is None else ()
        self.terms = Terms(options.terms) if options.terms else None
        self.constrained = any(term.hard for term in options.terms)
        self._soft = any(not term.hard for term in options.terms)
        self._always_changes = self._soft or options.repetition_penalty != 1
        self._bias = options.prefix_bias or 0.0
        self._prefix = prefix
        self._options = options
        self._never = vocabulary.never.union(options.suppressed_ids)
        self._never_now = self._never | {vocabulary.eos}
        # The first token is never end-of-sentence: no output is empty.
        self._ends_from = max(2, options.min_output_tokens)

    def excluded(self, tokens: tuple[int, ...]) -> AbstractSet[int]:
        """Give the tokens that may not come next."""
        too_short = len(tokens) + 1 < self._ends_from
        excluded = self._never_now if too_short else self._never
        if self._options.no_repeat_ngram_size:
            return excluded | repeats(tokens, self._options.no_repeat_ngram_size)
        return excluded

    def same_for_all(self, tokens: tuple[int, ...]) -> bool:
        """Whether all outputs as long as this one have the same tokens excluded and changed."""
        return not self._options.no_repeat_ngram_size and len(tokens) > len(self._prefix.ids)

    def changes(self, tokens: tuple[int, ...]) -> bool:
        """Whether the next token's log-probabilities are changed, beyond what is excluded."""
        if self._always_changes:
            return True
        prefix = self._prefix
        if len(tokens) > len(prefix.ids) or not (prefix.starts_new_word or self._bias):
            return False
        return self.begins_word(tokens) or self._biased(tokens)

    def begins_word(self, tokens: tuple[int, ...]) -> bool:
        """Whether the next token must begin a word."""
        return self._prefix.starts_new_word and tokens == self._prefix.ids

    def _biased(self, tokens: tuple[int, ...]) -> bool:
        wanted = self._prefix.ids
        return self._bias > 0 and len(tokens) < len(wanted) and tokens == wanted[: len(tokens)]

    def change(self, log_probs: NDArray[np.float32], partial: Partial) -> NDArray[np.float32]:
        """Give the next token's log-probabilities as the rules change them.

        Args:
            log_probs: float32 [vocabulary], the model's; not altered.
            partial: the output so far.

        Returns:
            float32 [vocabulary], a copy, minus infinity where a token is excluded.
        """
        changed = log_probs.copy()
        self._penalise(changed, partial.tokens)
        if self._biased(partial.tokens):
            self._raise(changed, self._prefix.ids[len(partial.tokens)])
        if self._soft and self.terms is not None:
            usual, exceptions = self.terms.bonuses(partial.terms)
            raised = [(token, changed[token] + bonus) for token, bonus in exceptions.items()]
            changed += np.float32(usual)
            for token, value in raised:
                changed[token] = value
        self._exclude(changed, partial.tokens)
        return changed

    def allow(self, log_probs: NDArray[np.float32], tokens: tuple[int, ...]) -> NDArray[np.float32]:
        """Give a copy of the model's own log-probabilities, minus infinity where excluded."""
        allowed = log_probs.copy()
        self._exclude(allowed, tokens)
        return allowed

    def _penalise(self, log_probs: NDArray[np.float32], tokens: tuple[int, ...]) -> None:
        if self._options.repetition_penalty != 1 and tokens:
            used = list(set(tokens))
            log_probs[used] *= np.float32(self._options.repetition_penalty)

    def _raise(self, log_probs: NDArray[np.float32], wanted: int) -> None:
        share = math.log1p(-self._bias)
        raised = np.logaddexp(float(log_probs[wanted]) + share, math.log(self._bias))
        log_probs += np.float32(share)
        log_probs[wanted] = raised

    def _exclude(self, log_probs: NDArray[np.float32], tokens: tuple[int, ...]) -> None:
        if self.begins_word(tokens):
            starts = self.vocabulary.word_starts
            allowed = log_probs[starts]
            log_probs[:] = -np.inf
            log_probs[starts] = allowed
        log_probs[list(self.excluded(tokens))] = -np.inf

    def bonus(self, partial: Partial, token: int) -> float:
        """Give what soft terms add to an output that goes on with a token."""
        if not self._soft or self.terms is None:
            return 0.0
        usual, exceptions = self.terms.bonuses(partial.terms)
        return exceptions.get(token, usual)

    def unfinished_bonus(self, partial: Partial) -> float:
        """Give what soft terms take back where an output ends here."""
        return 0.0 if self.terms is None else self.terms.granted(partial.terms)

    def outlook(self, terms: TermState) -> float:
        """Bound what soft terms can still add to an output."""
        return self.terms.outlook(terms) if self._soft and self.terms is not None else 0.0

    def met_terms(self, partial: Partial) -> tuple[bool, ...]:
        """Say of each term whether an output contains it."""
        return () if self.terms is None else self.terms.met(partial.terms)

    def extend(self, partial: Partial, token: int, log_prob: float, total: float) -> Partial:
        """Give an output with one token of text more."""
        terms = partial.terms
        if self.terms is not None:
            terms = self.terms.advance(terms, token)
        tokens = (*partial.tokens, token)
        return Partial(tokens, (*partial.log_probabilities, log_prob), total, terms)


def repeats(tokens: tuple[int, ...], size: int) -> frozenset[int]:
    """Give the tokens that would complete a sequence of this size that has occurred already."""
    if len(tokens) < size:
        return _NOTHING
    tail = tokens[len(tokens) - size + 1 :]
    begins = range(len(tokens) - size + 1)
    return frozenset(
        tokens[begin + size - 1] for begin in begins if tokens[begin : begin + size - 1] == tail
    )
