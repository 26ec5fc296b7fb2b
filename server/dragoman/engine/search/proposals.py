"""Continuations of live outputs, and which of them a beam search goes on with."""

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from dragoman.engine.search.base import Step
from dragoman.engine.search.rules import Partial


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


class Choice(NamedTuple):
    """What becomes of the proposals of a step; each list best first.

    Attributes:
        ending: those that end the sentence.
        going_on: those that live on.
        given_up: all others.
    """

    ending: list[Proposal]
    going_on: list[Proposal]
    given_up: list[Proposal]


_total = itemgetter(0)


def best_first(proposals: Iterable[Iterable[Proposal]]) -> list[Proposal]:
    """Merge; equal totals keep their order: earlier outputs first, and in each lower tokens."""
    return sorted(chain.from_iterable(proposals), key=_total, reverse=True)


def merge_top(
    step: Step,
    rows: Sequence[int],
    count: int,
    live: Sequence[Partial],
    excluded: Sequence[AbstractSet[int]],
) -> list[list[Proposal]]:
    """Give each live output's allowed ones of its row's top tokens, best first."""
    all_ids, all_values = step.top
    found = []
    for parent, row in enumerate(rows):
        total, never = live[parent].total, excluded[parent]
        pairs = zip(all_ids[row][:count], all_values[row][:count], strict=True)
        found.append(
            [
                Proposal(total + value, parent, token, value)
                for token, value in pairs
                if token not in never
            ]
        )
    return found


def choose(
    proposals: Sequence[Proposal], eos: int, *, size: int, ends: int, margin: float = math.inf
) -> Choice:
    """Choose among proposals, best first, those that a beam search goes on with.

    Args:
        proposals: the proposals.
        eos: the token that ends a sentence.
        size: how many live on at most.
        ends: how many are looked at for those that end the sentence.
        margin: how much worse than the best one they may be.
    """
    ending: list[Proposal] = []
    going_on: list[Proposal] = []
    given_up: list[Proposal] = []
    floor = proposals[0].total - margin if proposals else 0.0
    for place, proposal in enumerate(proposals):
        if proposal.total < floor or (len(going_on) >= size and place >= ends):
            given_up += proposals[place:]
            break
        if proposal.token == eos:
            (ending if place < ends else given_up).append(proposal)
        else:
            (going_on if len(going_on) < size else given_up).append(proposal)
    return Choice(ending, going_on, given_up)
