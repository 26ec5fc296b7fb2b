"""Slow searches in plain PyTorch, written apart from the engine: no rows, no cache, no pruning.

A model is a function that gives the log-probabilities of the token after an output so far.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch

Model = Callable[[tuple[int, ...]], torch.Tensor]
Adjust = Callable[[torch.Tensor, tuple[int, ...]], torch.Tensor]


@dataclass(frozen=True)
class Output:
    """A finished output and its score."""

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    score: float
    ends: bool


@dataclass(frozen=True)
class Task:
    """What is searched for."""

    model: Model
    eos: int
    never: frozenset[int]
    limit: int
    alpha: float = 0.6
    prefix: tuple[int, ...] = ()
    adjust: Adjust | None = None

    def score(self, total: float, length: int) -> float:
        return total / math.pow((5 + length) / 6, self.alpha)

    def step(self, tokens: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """The model's log-probabilities, and those that count: minus infinity where forbidden."""
        log_probs = self.model(tokens)
        counted = log_probs.clone()
        if len(tokens) < len(self.prefix):
            forced = torch.full_like(counted, -torch.inf)
            forced[self.prefix[len(tokens)]] = log_probs[self.prefix[len(tokens)]]
            return log_probs, forced
        if self.adjust is not None:
            counted = self.adjust(counted, tokens)
        counted[list(self.never)] = -torch.inf
        if not tokens:
            counted[self.eos] = -torch.inf
        return log_probs, counted


Live = tuple[tuple[int, ...], tuple[float, ...], float]


def beam_search(
    task: Task, beam: int, patience: float = 0.0, margin: float = 0.0, *, ends: int = 1
) -> list[Output]:
    """Everything that a beam search finishes, best first; without `patience` up to the limit.

    Of each step's `ends` x `beam` best continuations those finish that end the sentence.
    """
    live: list[Live] = [((), (), 0.0)]
    finished: list[Output] = []
    for length in range(1, task.limit + 1):
        # None of a parent's later children can be among the best of all.
        found = [child for parent in live for child in islice(_children(task, parent), 2 * beam)]
        found.sort(key=lambda child: -child[2])
        if margin:
            found = [child for child in found if child[2] >= found[0][2] - margin]
        free = length > len(task.prefix)
        for tokens, values, total in found[: ends * beam if free else 1]:
            if tokens[-1] == task.eos:
                finished.append(Output(tokens[:-1], values, task.score(total, length), True))
        live = [child for child in found if child[0][-1] != task.eos][: beam if free else 1]
        if patience:
            if len(finished) >= max(1, round(beam * patience)):
                live = []
            live = [child for child in live if _can_win(task, child, finished)]
    for tokens, values, total in live:
        finished.append(Output(tokens, values, task.score(total, task.limit), False))
    return sorted(finished, key=lambda output: -output.score)


def _can_win(task: Task, live: Live, finished: list[Output]) -> bool:
    tokens, _, total = live
    # Log-probabilities only fall; what they are divided by rises or falls throughout.
    best = max(task.score(total, length) for length in (len(tokens), task.limit))
    return all(best > output.score for output in finished)


def _children(task: Task, parent: Live) -> Iterator[Live]:
    tokens, values, total = parent
    log_probs, counted = task.step(tokens)
    order = torch.sort(counted, descending=True, stable=True).indices.tolist()
    for token in order:
        if counted[token] > -torch.inf:
            value = float(log_probs[token])
            yield (*tokens, token), (*values, value), total + float(counted[token])


def exhaustive_search(task: Task) -> list[Output]:
    """Every output that there is, best first."""
    found: list[Output] = []
    symbols = [token for token in range(len(task.model(()))) if token not in task.never]
    for length in range(1, task.limit + 1):
        for tokens in itertools.product(symbols, repeat=length):
            ends = tokens[-1] == task.eos
            whole = task.eos not in tokens[:-1] and (ends or length == task.limit)
            if whole and tokens != (task.eos,) and tokens[: len(task.prefix)] == task.prefix:
                found += _output(task, tokens, ends)
    return sorted(found, key=lambda output: -output.score)


def _output(task: Task, tokens: tuple[int, ...], ends: bool) -> list[Output]:
    values, total = [], 0.0
    for place, token in enumerate(tokens):
        log_probs, counted = task.step(tokens[:place])
        values.append(float(log_probs[token]))
        total += float(counted[token])
    if total == -float("inf"):
        return []
    score = task.score(total, len(tokens))
    return [Output(tokens[:-1] if ends else tokens, tuple(values), score, ends)]


def greedy_search(task: Task) -> Output:
    """The best token at each place."""
    tokens: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    total = 0.0
    while len(tokens) < task.limit:
        log_probs, counted = task.step(tokens)
        token = int(counted.argmax())
        values = (*values, float(log_probs[token]))
        total += float(counted[token])
        if token == task.eos:
            return Output(tokens, values, task.score(total, len(values)), True)
        tokens = (*tokens, token)
    return Output(tokens, values, task.score(total, len(values)), False)
