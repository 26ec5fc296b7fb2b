"""Beam search: several outputs side by side, the best continuations of all kept at each step."""

from collections.abc import Sequence

from dragoman.engine.request import FinishReason, Hypothesis
from dragoman.engine.search.base import Step, Trace, common_length
from dragoman.engine.search.finished import Finished, Stopping
from dragoman.engine.search.guided import Guided
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.proposals import Choice, Proposal, best_first, choose, from_top
from dragoman.engine.search.ranking import best_finite_places
from dragoman.engine.search.rules import Partial, Rules

_Grown = tuple[Proposal, Partial]


class Beam(Guided):
    """Keeps at most `most_rows` live outputs, each on a row of its own.

    `DecodingOptions` says what is kept and when it ends. The live outputs come in two groups. The
    leading ones are those of the search for the best output alone: its course is the same however
    many hypotheses are wanted. What it gives up costs no row where one hypothesis is wanted;
    otherwise it follows after the leading ones, on the rows that they leave, until enough is found.
    """

    __slots__ = ("_before", "_committed", "_finished", "_leading", "_live", "_stopping")

    def __init__(
        self,
        rules: Rules,
        penalty: LengthPenalty,
        beam_size: int,
        stopping: Stopping,
        *,
        whole_rows: bool = False,
        alternative: int | None = None,
    ) -> None:
        """Begin a search.

        Args:
            rules: what the request forbids and prefers.
            penalty: of the score.
            beam_size: most live outputs.
            stopping: when it ends, and what is given up before.
            whole_rows: see `Guided`.
            alternative: see `Guided`.
        """
        super().__init__(
            rules,
            penalty,
            beam_size,
            most_rows=beam_size,
            whole_rows=whole_rows,
            ends_apart=True,
            alternative=alternative,
        )
        self._stopping = stopping
        self._live = [self._begin()]
        self._leading = 1
        self._before: Sequence[Partial] = ()
        self._finished = Finished(stopping)
        self._committed = 0

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of the forced tokens."""
        self._set_live([self._known(token_ids, log_probabilities)], 1)

    def trace(self) -> Trace | None:
        """Give the best live output, if there is one."""
        if not self._live:
            return None
        return Trace(self.rows[0], self._live[0].tokens, self._live[0].log_probabilities)

    def shared(self, place: int, other: int) -> int:
        """Give how many leading positions two rows of the step before hold alike."""
        before = self._before
        # Begin-of-sentence comes before the tokens.
        return 1 + common_length((before[place].tokens, before[other].tokens))

    def advance(self, step: Step) -> bool:
        """Keep the best continuations; the search ends where no live output is left."""
        forced = self._force(step, self._live[0])
        if forced is not None:
            step.next_ids[self.rows[0]] = forced.tokens[-1]
            self._set_live([forced], 1)
            return False
        self.chosen += 1
        self._settle(step, self._propose(step))
        if self._live:
            return False
        if self._finished.leading:
            # What was tried beyond the end of the best output is no part of it.
            best = self._finished.leading[0]
            self.chosen = len(best.log_probabilities) - len(self._rules.forced)
        return True

    def _set_live(self, live: list[Partial], leading: int) -> None:
        self._live, self._leading = live, leading
        if live:
            self._ask(live)

    def _propose(self, step: Step) -> list[list[Proposal]]:
        """Give the best allowed continuations of each live output, best first."""
        if self._at_alternative(self._live[0].tokens):
            return [self._propose_alternative(step)]
        if self.all_log_probs:
            return self._from_rows(step)
        margin = self._stopping.looked_at
        return from_top(step, self.rows, self.candidates, self._live, self._excluded, margin)

    def _propose_alternative(self, step: Step) -> list[Proposal]:
        [partial] = self._live
        found = self._alternative_token(step, partial)
        if found is None:
            return []
        token, log_prob = found
        total = partial.total + log_prob + self._rules.bonus(partial, token)
        return [Proposal(total, 0, token, log_prob)]

    def _from_rows(self, step: Step) -> list[list[Proposal]]:
        found = []
        for parent, partial in enumerate(self._live):
            log_probs = step.output.log_probs[self.rows[parent]]
            changed = self._rules.change(log_probs, partial)
            places = best_finite_places(changed, 2 * self._wanted)
            pairs = zip(places.tolist(), changed[places].tolist(), strict=True)
            found.append(
                [
                    Proposal(partial.total + value, parent, place, float(log_probs[place]))
                    for place, value in pairs
                ]
            )
        return found

    def _settle(self, step: Step, proposed: list[list[Proposal]]) -> None:
        """Let the best continuations live on; end where none is left, or at the limit."""
        choice = self._choose(best_first(proposed[: self._leading]))
        self._finish(choice.ending, leads=True)
        if choice.ending:
            self._note_ended(choice.ending[0].parent)
        grown = [] if self._finished.enough else self._grow(choice.going_on, leads=True)
        leading = len(grown)
        if self._stopping.fills_up:
            kept = {id(proposal) for proposal, _ in grown}
            lost = [each for each in choice.going_on if id(each) not in kept]
            others = best_first([choice.given_up, lost, *proposed[self._leading :]])
            grown += self._fill_up(others, len(choice.ending), leading)
        self._go_on(step, grown, leading)

    def _choose(self, proposals: list[Proposal]) -> Choice:
        """Choose among the leading proposals, best first."""
        size, eos = self.most_rows, self._rules.vocabulary.eos
        # With soft terms, what lives on may be rated higher than it will be in the end.
        ends = size if self._rules.terms is None else 2 * size
        return choose(proposals, eos, size=size, ends=ends, margin=self._stopping.margin)

    def _fill_up(self, others: list[Proposal], ended: int, leading: int) -> list[_Grown]:
        """Choose among those that don't lead, best first, for the rows that are left."""
        room, eos = self.most_rows - leading, self._rules.vocabulary.eos
        choice = choose(others, eos, size=room, ends=room - ended)
        self._finish(choice.ending, leads=False)
        over = not leading and self._finished.complete
        return [] if over else self._grow(choice.going_on, leads=False)

    def _grow(self, proposals: list[Proposal], *, leads: bool) -> list[_Grown]:
        """Give the outputs that can come to be among the finished ones that are kept."""
        to_beat, grown = self._finished.to_beat(leads=leads), []
        for proposal in proposals:
            total, parent, token, log_prob = proposal
            child = self._rules.extend(self._live[parent], token, log_prob, total)
            if to_beat is None or self._bound(child) > to_beat:
                grown.append((proposal, child))
        return grown

    def _bound(self, partial: Partial) -> float:
        """Bound the score of what may come of an output; to end now would count, too."""
        total = partial.total + self._rules.outlook(partial.terms)
        return self._penalty.best(total, len(partial.tokens))

    def _finish(self, ending: Sequence[Proposal], *, leads: bool) -> None:
        for total, parent, _, log_prob in ending:
            hypothesis = self._ended_hypothesis(self._live[parent], total, log_prob)
            self._finished.add(hypothesis, leads=leads)

    def _note_ended(self, place: int) -> None:
        """Show the row of an output that has just ended, if none is better so far."""
        tokens, log_probabilities, *_ = self._live[place]
        if self._finished.leading[0].token_ids == tokens:
            self.ended = (Trace(self.rows[place], tokens, log_probabilities),)

    def _go_on(self, step: Step, grown: list[_Grown], leading: int) -> None:
        if not grown:
            self._end()
            return
        self._before = self._live
        self._set_live([child for _, child in grown], leading)
        if len(self._live[0].tokens) == self._penalty.limit:
            self._cut_all(FinishReason.LENGTH)
        else:
            self._hand_on(step, [proposal for proposal, _ in grown])

    def _end(self) -> None:
        """End where no token of text is allowed; an alternative that isn't there has no outcome."""
        if self._finished.leading or self._at_alternative(self._live[0].tokens):
            self._set_live([], 0)
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

    def _cut_all(self, reason: FinishReason) -> None:
        for place, partial in enumerate(self._live):
            hypothesis = self._cut_hypothesis(partial, reason)
            self._finished.add(hypothesis, leads=place < self._leading)
        self._set_live([], 0)

    def cut(self) -> None:
        """End with what there is."""
        self._cut_all(FinishReason.DEADLINE)

    def take_committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Give what all outputs have in common that can still become the best one."""
        start = self._committed
        rivals = self._rivals()
        if not rivals:
            return (), ()
        end = start + common_length([tokens[start:] for tokens, _ in rivals])
        self._committed = end
        tokens, log_probabilities = rivals[0]
        return tokens[start:end], log_probabilities[start:end]

    def _rivals(self) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        best = self._finished.leading[:1]
        rivals = [(each.token_ids, each.log_probabilities) for each in best]
        return rivals + [
            (partial.tokens, partial.log_probabilities)
            for partial in self._live[: self._leading]
            if not best or self._bound(partial) > best[0].score
        ]

    def hypotheses(self) -> list[Hypothesis]:
        """Give the outputs, best first, once the search is over."""
        return self._finished.listed()
