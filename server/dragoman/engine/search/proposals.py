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


def from_top(
    step: Step,
    rows: Sequence[int],
    count: int,
    live: Sequence[Partial],
    excluded: Sequence[AbstractSet[int]],
    margin: float,
) -> list[list[Proposal]]:
    """Give each live output's allowed ones of its row's top tokens, best first.

    Args:
        step: has the top tokens.
        rows: of the live outputs.
        count: top tokens that are looked at of each row.
        live: the live outputs.
        excluded: tokens that may not come next, for each of them.
        margin: those that are worse than the best one by more may be left out.
    """
    all_ids, all_values = step.top
    found: list[list[Proposal]] = []
    floor = -math.inf
    for parent, row in enumerate(rows):
        total, never = live[parent].total, excluded[parent]
        own: list[Proposal] = []
        for token, value in zip(all_ids[row][:count], all_values[row][:count], strict=True):
            raised = total + value
            if raised < floor:
                break
            if token not in never:
                if not own and raised - margin > floor:
                    floor = raised - margin
                own.append(Proposal(raised, parent, token, value))
        found.append(own)
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
    floor, room = (proposals[0].total - margin if proposals else 0.0), size
    for place, proposal in enumerate(proposals):
        if proposal[0] < floor or (room <= 0 and place >= ends):
            given_up += proposals[place:]
            break
        if proposal[2] == eos:
            (ending if place < ends else given_up).append(proposal)
        elif room > 0:
            room -= 1
            going_on.append(proposal)
        else:
            given_up.append(proposal)
    return Choice(ending, going_on, given_up)
