"""Where an output stands in spelling the wordings that it must or should contain.

All spellings of all terms are one automaton of Aho and Corasick: its state says which beginnings
of spellings the output ends with. A state here is that, together with the terms already met; it
is a small tuple, and whatever is asked about one is computed once.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dragoman.engine.decoding import Term


class TermState(NamedTuple):
    """How far an output has come.

    Attributes:
        node: of the automaton: the longest beginning of a spelling that the output ends with.
        met: bit t is set where the output contains term t.
    """

    node: int = 0
    met: int = 0


class Progress(NamedTuple):
    """A spelling that an output is in the middle of."""

    term: int
    matched: int
    length: int


class Terms:
    """The terms of one request."""

    def __init__(self, terms: Sequence[Term]) -> None:
        """Build the automaton."""
        self._terms = terms
        self._next: list[dict[int, int]] = [{}]
        self._progress: list[list[Progress]] = [[]]
        self._shortest = [min(map(len, term.target_ids)) for term in terms]
        self._longest = [max(map(len, term.target_ids)) for term in terms]
        for index, term in enumerate(terms):
            for spelling in term.target_ids:
                self._add(index, spelling)
        self._link()
        self._bonuses: dict[TermState, tuple[float, dict[int, float]]] = {}
        self._missing: dict[TermState, int] = {}

    def _add(self, term: int, spelling: Sequence[int]) -> None:
        node = 0
        for matched, token in enumerate(spelling, start=1):
            if token not in self._next[node]:
                self._next[node][token] = len(self._next)
                self._next.append({})
                self._progress.append([])
            node = self._next[node][token]
            self._progress[node].append(Progress(term, matched, len(spelling)))

    def _link(self) -> None:
        """Let each node know where every token leads to, except back to the root."""
        queue = [(child, 0) for child in self._next[0].values()]
        for node, fallback in queue:
            self._progress[node] = self._progress[node] + self._progress[fallback]
            inherited = self._next[fallback]
            queue += [(child, inherited.get(token, 0)) for token, child in self._next[node].items()]
            self._next[node] = inherited | self._next[node]

    def advance(self, state: TermState, token: int) -> TermState:
        """Give the state after one more token."""
        node = self._next[state.node].get(token, 0)
        met = state.met
        for progress in self._progress[node]:
            if progress.matched == progress.length:
                met |= 1 << progress.term
        return TermState(node, met)

    def walk(self, tokens: Iterable[int]) -> TermState:
        """Give the state of an output from its beginning."""
        state = TermState()
        for token in tokens:
            state = self.advance(state, token)
        return state

    def leading(self, state: TermState) -> Iterable[int]:
        """Give the tokens that go on with a spelling or begin one."""
        return self._next[state.node]

    def met(self, state: TermState) -> tuple[bool, ...]:
        """Say of each term whether it is met."""
        return tuple(bool(state.met >> index & 1) for index in range(len(self._terms)))

    def missing(self, state: TermState) -> int:
        """Give the fewest tokens in which all hard terms that are still missing can be spelt.

        Only one of the spellings that are under way counts, the one that saves most, since going
        on with one may break off another. Some token always lowers this by one.
        """
        if state not in self._missing:
            self._missing[state] = self._count_missing(state)
        return self._missing[state]

    def _count_missing(self, state: TermState) -> int:
        saved = 0
        for term, matched, length in self._under_way(state, hard=True):
            saved = max(saved, self._shortest[term] - (length - matched))
        shortest = enumerate(self._shortest)
        return sum(size for term, size in shortest if self._open(state, term, hard=True)) - saved

    def _open(self, state: TermState, term: int, *, hard: bool) -> bool:
        return self._terms[term].hard is hard and not state.met >> term & 1

    def _under_way(self, state: TermState, *, hard: bool) -> list[Progress]:
        progress = self._progress[state.node]
        return [entry for entry in progress if self._open(state, entry.term, hard=hard)]

    def bonuses(self, state: TermState) -> tuple[float, dict[int, float]]:
        """Give what each next token adds to a hypothesis: the usual amount, and the exceptions.

        Where no spelling is under way the usual amount is 0; otherwise it takes back what had
        been granted for it.
        """
        if state not in self._bonuses:
            granted = self.granted(state)
            tokens = {token: self._gain(state, token) - granted for token in self.leading(state)}
            self._bonuses[state] = (-granted, tokens)
        return self._bonuses[state]

    def granted(self, state: TermState) -> float:
        """Give what soft terms have added so far that may have to be taken back."""
        matched: dict[int, int] = {}
        for entry in self._under_way(state, hard=False):
            matched[entry.term] = max(matched.get(entry.term, 0), entry.matched)
        return sum(self._terms[term].bonus * count for term, count in matched.items())

    def _gain(self, state: TermState, token: int) -> float:
        after = self.advance(state, token)
        kept: dict[int, int] = {}
        for term, matched, length in self._progress[after.node]:
            if matched == length and self._open(state, term, hard=False):
                kept[term] = max(kept.get(term, 0), length)
        completed = sum(self._terms[term].bonus * length for term, length in kept.items())
        return completed + self.granted(after)

    def outlook(self, state: TermState) -> float:
        """Bound what soft terms can still add to a hypothesis."""
        longest = enumerate(self._longest)
        most = sum(
            self._terms[term].bonus * size
            for term, size in longest
            if self._open(state, term, hard=False)
        )
        return most - self.granted(state)
