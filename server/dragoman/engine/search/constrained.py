"""Beam search for outputs that must contain given wordings.

Post and Vilar, "Fast Lexically Constrained Decoding with Dynamic Beam Allocation": continuations
are sorted into banks by how much of the wordings is still missing, and the beam is shared out
among the banks, so that outputs that have spelt more of them don't have to outdo those that have
spelt less. Beside the most probable continuations there are always those that spell on.
"""

from collections.abc import Sequence
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.search.base import Step
from dragoman.engine.search.beam import Beam
from dragoman.engine.search.finished import Stopping
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.proposals import Choice, Proposal, best_first
from dragoman.engine.search.ranking import best_finite_places
from dragoman.engine.search.rules import Partial, Rules
from dragoman.engine.search.terms import Terms


class ConstrainedBeam(Beam):
    """A beam search of which every outcome contains all hard terms.

    A continuation that would leave fewer places than the missing wordings need is never taken, so
    the wordings are spelt in time. They may be spelt with tokens that the request suppresses or
    that repeat a sequence.
    """

    __slots__ = ("_terms",)

    def __init__(
        self,
        rules: Rules,
        terms: Terms,
        penalty: LengthPenalty,
        beam_size: int,
        stopping: Stopping,
        *,
        alternative: int | None = None,
    ) -> None:
        """Begin a search.

        Args:
            rules: what the request forbids and prefers.
            terms: those of the rules.
            penalty: of the score.
            beam_size: most live outputs.
            stopping: when it ends.
            alternative: see `Guided`.
        """
        self._terms = terms
        super().__init__(
            rules, penalty, beam_size, stopping, whole_rows=True, alternative=alternative
        )

    def _from_rows(self, step: Step) -> list[list[Proposal]]:
        rows = zip(self._live, self.rows, strict=True)
        return [
            self._continue(parent, partial, step.output.log_probs[row])
            for parent, (partial, row) in enumerate(rows)
        ]

    def _continue(
        self, parent: int, partial: Partial, log_probs: NDArray[np.float32]
    ) -> list[Proposal]:
        changed = self._rules.change(log_probs, partial)
        places: list[int] = best_finite_places(changed, 2 * self._wanted).tolist()
        values = {place: float(changed[place]) for place in places}
        for token in self._terms.leading(partial.terms):
            values[token] = self._leading_value(partial, token, log_probs, changed)
        return [
            Proposal(partial.total + value, parent, token, float(log_probs[token]))
            for token, value in values.items()
            if value > -np.inf and self._in_time(partial, token)
        ]

    def _leading_value(
        self,
        partial: Partial,
        token: int,
        log_probs: NDArray[np.float32],
        changed: NDArray[np.float32],
    ) -> float:
        """Give the log-probability of a token that spells on, even if it is excluded."""
        if changed[token] == -np.inf and not self._rules.begins_word(partial.tokens):
            return float(log_probs[token]) + self._rules.bonus(partial, token)
        return float(changed[token])

    def _in_time(self, partial: Partial, token: int) -> bool:
        if token == self._rules.vocabulary.eos:
            return self._terms.missing(partial.terms) == 0
        left = self._penalty.limit - len(partial.tokens) - 1
        return self._terms.missing(self._terms.advance(partial.terms, token)) <= left

    def _choose(self, proposals: list[Proposal]) -> Choice:
        eos = self._rules.vocabulary.eos
        banks: dict[int, list[Proposal]] = {}
        for proposal in proposals:
            state = self._live[proposal.parent].terms
            missing = self._terms.missing(self._terms.advance(state, proposal.token))
            banks.setdefault(missing, []).append(proposal)
        ending = [
            proposal for proposal in banks.get(0, [])[: 2 * self._wanted] if proposal.token == eos
        ]
        rest = [
            [proposal for proposal in banks[missing] if proposal.token != eos]
            for missing in sorted(banks)
        ]
        return Choice(ending, best_first([share_out(rest, self.most_rows)]), [])


def share_out(banks: Sequence[Sequence[Proposal]], size: int) -> list[Proposal]:
    """Take from each bank in turn, the first bank first, until there are enough."""
    turns = chain.from_iterable(zip_longest(*banks))
    return [proposal for proposal in turns if proposal is not None][:size]
