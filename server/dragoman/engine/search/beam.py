"""Beam search: several outputs side by side, the best continuations of all kept at each step."""

import bisect
import heapq
from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from dragoman.engine.request import FinishReason, Hypothesis
from dragoman.engine.search.base import Step, Trace
from dragoman.engine.search.guided import Guided
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.ranking import best_finite_places
from dragoman.engine.search.rules import Partial, Rules


class Proposal(NamedTuple):
    """A token that may come next.

    Attributes:
        total: of the output with it, as the rules change it.
        parent: place of the live output that it continues.
        token: the token.
        log_prob: its log-probability, as the model gave it.
    """

    total: float
    parent: int
    token: int
    log_prob: float


class Beam(Guided):
    """Keeps at most `most_rows` live outputs, each on a row of its own.

    `DecodingOptions` says what is kept and when it ends. An output that can't come to be among
    the finished ones that are kept gives its row back at once: whatever it would leave behind is
    worse still, and so are the outputs that follow it in the order of the live ones, so this
    changes nothing of the outcome.
    """

    __slots__ = ("_committed", "_finished", "_kept", "_live")

    def __init__(
        self,
        rules: Rules,
        penalty: LengthPenalty,
        beam_size: int,
        kept: int,
        *,
        whole_rows: bool = False,
        alternative: int | None = None,
    ) -> None:
        """Begin a search.

        Args:
            rules: what the request forbids and prefers.
            penalty: of the score.
            beam_size: most live outputs.
            kept: finished outputs that are looked for, at most `beam_size`.
            whole_rows: see `Guided`.
            alternative: see `Guided`.
        """
        super().__init__(
            rules,
            penalty,
            2 * beam_size,
            most_rows=beam_size,
            whole_rows=whole_rows,
            alternative=alternative,
        )
        self._kept = kept
        self._live = [self._begin()]
        self._finished: list[Hypothesis] = []
        self._committed = 0

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of the forced tokens."""
        self._set_live([self._known(token_ids, log_probabilities)])

    def trace(self) -> Trace | None:
        """Give the best live output, if there is one."""
        if not self._live:
            return None
        return Trace(self.rows[0], self._live[0].tokens, self._live[0].log_probabilities)

    def advance(self, step: Step) -> bool:
        """Keep the best continuations; the search ends where no live output is left."""
        forced = self._force(step, self._live[0])
        if forced is not None:
            step.next_ids[self.rows[0]] = forced.tokens[-1]
            self._set_live([forced])
            return False
        self.chosen += 1
        ending, going_on = self._select(self._propose(step))
        self._settle(step, ending, going_on)
        if self._live:
            return False
        if self._finished:
            # What was tried beyond the end of the best output is no part of it.
            self.chosen = len(self._finished[0].log_probabilities) - len(self._rules.forced)
        return True

    def _set_live(self, live: list[Partial]) -> None:
        self._live = live
        if live:
            self._ask(live)

    def _propose(self, step: Step) -> list[Proposal]:
        """Give the best allowed continuations of all live outputs together, best first."""
        if self._at_alternative(self._live[0].tokens):
            return self._propose_alternative(step)
        return self._from_rows(step) if self.all_log_probs else self._from_top(step)

    def _propose_alternative(self, step: Step) -> list[Proposal]:
        [partial] = self._live
        found = self._alternative_token(step, partial)
        if found is None:
            return []
        token, log_prob = found
        total = partial.total + log_prob + self._rules.bonus(partial, token)
        return [Proposal(total, 0, token, log_prob)]

    def _from_top(self, step: Step) -> list[Proposal]:
        """Merge the rows' top tokens, of which each row's are sorted already."""
        count, live = self.candidates, self._live
        ids: list[list[int]] = []
        values: list[list[float]] = []
        for row in self.rows:
            ids.append(step.output.top_ids[row, :count].tolist())
            values.append(step.output.top_log_probs[row, :count].tolist())
        # Equal totals come by the order of the outputs, and within one by that of its tokens.
        heads = [(-(live[i].total + values[i][0]), i, 0) for i in range(len(live))]
        heapq.heapify(heads)
        found: list[Proposal] = []
        while heads and len(found) < self._wanted:
            cost, parent, place = heads[0]
            token, log_prob = ids[parent][place], values[parent][place]
            if token not in self._excluded[parent]:
                found.append(Proposal(-cost, parent, token, log_prob))
            place += 1
            if place < count:
                total = live[parent].total + values[parent][place]
                heapq.heapreplace(heads, (-total, parent, place))
            else:
                heapq.heappop(heads)
        return found

    def _from_rows(self, step: Step) -> list[Proposal]:
        found: list[Proposal] = []
        for parent, partial in enumerate(self._live):
            log_probs = step.output.log_probs[self.rows[parent]]
            changed = self._rules.change(log_probs, partial)
            places = best_finite_places(changed, self._wanted)
            totals: list[float] = (partial.total + changed[places].astype(np.float64)).tolist()
            values: list[float] = log_probs[places].tolist()
            for total, place, value in zip(totals, places.tolist(), values, strict=True):
                found.append(Proposal(total, parent, place, value))
        # Sorting keeps the order of equals: earlier outputs first, and in each lower ids.
        found.sort(key=_falling)
        return found[: self._wanted]

    def _select(self, proposals: list[Proposal]) -> tuple[list[Proposal], list[Proposal]]:
        """Give those that end the sentence and those that live on, both best first."""
        eos = self._rules.vocabulary.eos
        ending = [proposal for proposal in proposals if proposal.token == eos]
        going_on = [proposal for proposal in proposals if proposal.token != eos]
        return ending, going_on[: self.most_rows]

    def _settle(self, step: Step, ending: Sequence[Proposal], going_on: Sequence[Proposal]) -> None:
        parents = self._live
        for total, parent, _, log_prob in ending:
            self._keep(self._ended_hypothesis(parents[parent], total, log_prob))
        if ending:
            self._note_ended(ending[0].parent)
        children = [self._child(proposal) for proposal in going_on]
        if not children:
            self._end_without_children()
        elif len(children[0].tokens) == self._penalty.limit:
            self._set_live(children)
            self._cut_all(FinishReason.LENGTH)
        else:
            hopeful = [self._hopeful(child) for child in children]
            self._hand_on(step, list(compress(going_on, hopeful)))
            self._set_live(list(compress(children, hopeful)))

    def _note_ended(self, place: int) -> None:
        """Show the row of an output that has just ended, if none is better so far."""
        tokens, log_probabilities, *_ = self._live[place]
        if self._finished[0].token_ids == tokens:
            self.ended = (Trace(self.rows[place], tokens, log_probabilities),)

    def _child(self, proposal: Proposal) -> Partial:
        total, parent, token, log_prob = proposal
        return self._rules.extend(self._live[parent], token, log_prob, total)

    def _end_without_children(self) -> None:
        """End where no token of text is allowed; an alternative that isn't there has no outcome."""
        if self._finished or self._at_alternative(self._live[0].tokens):
            self._set_live([])
        else:
            self._cut_all(FinishReason.LENGTH)

    def _hand_on(self, step: Step, proposals: list[Proposal]) -> None:
        parents = [proposal.parent for proposal in proposals]
        tokens = [proposal.token for proposal in proposals]
        if parents == list(range(len(self.rows))):
            for row, token in zip(self.rows, tokens, strict=True):
                step.next_ids[row] = token
        else:
            self.parents, self.parent_ids = parents, tokens

    def _hopeful(self, partial: Partial) -> bool:
        """Whether an output can still come to be among the finished ones that are kept."""
        if len(self._finished) < self._kept:
            return True
        total = partial.total + self._rules.outlook(partial.terms)
        best = self._penalty.best(total, len(partial.tokens) + 1)
        return best > self._finished[-1].score

    def _keep(self, hypothesis: Hypothesis) -> None:
        """Enter a finished output; of equal ones the earlier comes first."""
        bisect.insort(self._finished, hypothesis, key=_falling_score)
        del self._finished[self._kept :]

    def _cut_all(self, reason: FinishReason) -> None:
        for partial in self._live:
            self._keep(self._cut_hypothesis(partial, reason))
        self._set_live([])

    def cut(self) -> None:
        """End with what there is."""
        self._cut_all(FinishReason.DEADLINE)

    def take_committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Give what all outputs have in common that can still become the best one."""
        start = self._committed
        rivals = self._rivals()
        if not rivals:
            return (), ()
        end = _common_length([tokens for tokens, _ in rivals], start)
        self._committed = end
        tokens, log_probabilities = rivals[0]
        return tokens[start:end], log_probabilities[start:end]

    def _rivals(self) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        rivals = [(best.token_ids, best.log_probabilities) for best in self._finished[:1]]
        for partial in self._live:
            total = partial.total + self._rules.outlook(partial.terms)
            best = self._penalty.best(total, len(partial.tokens))
            if not self._finished or best > self._finished[0].score:
                rivals.append((partial.tokens, partial.log_probabilities))
        return rivals

    def hypotheses(self) -> list[Hypothesis]:
        """Give the outputs, best first, once the search is over."""
        return self._finished


def _falling(proposal: Proposal) -> float:
    return -proposal.total


def _falling_score(hypothesis: Hypothesis) -> float:
    return -hypothesis.score


def _common_length(sequences: Sequence[tuple[int, ...]], start: int) -> int:
    """Give how many leading tokens are the same, of which `start` are known to be."""
    end = start
    for tokens in zip(*(sequence[start:] for sequence in sequences), strict=False):
        if len(set(tokens)) > 1:
            break
        end += 1
    return end
