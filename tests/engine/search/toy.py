"""A vocabulary of eight tokens, and steps whose distributions are made by hand."""

from __future__ import annotations

import numpy as np
import torch

from dragoman.engine.search import Search, Step, Vocabulary
from dragoman.engine.sessions import StepOutput

PAD, UNK, BOS, EOS = 0, 1, 2, 3
A, B, WORD, OTHER_WORD = 4, 5, 6, 7
SIZE = 8
VOCABULARY = Vocabulary(
    SIZE, BOS, EOS, frozenset((PAD, UNK, BOS)), np.array([WORD, OTHER_WORD], np.int64)
)


def distribution(**logits: float) -> np.ndarray:
    """Log-probabilities in which the named tokens stand out."""
    values = np.zeros(SIZE, np.float32)
    for name, logit in logits.items():
        values[globals()[name]] = logit
    return np.asarray(values - np.log(np.exp(values).sum()), np.float32)


def step_of(*rows: np.ndarray, k: int = SIZE) -> Step:
    log_probs = np.stack(rows).astype(np.float32)
    ids = np.argsort(-log_probs, axis=1, kind="stable")[:, :k]
    return Step(StepOutput(ids, np.take_along_axis(log_probs, ids, axis=1), log_probs))


def decode(search: Search, *rows: np.ndarray) -> list[int]:
    """Feed rows until the search is over; give what it wanted fed."""
    search.rows = [0]
    fed: list[int] = []
    for index, row in enumerate(rows):
        step = step_of(row)
        done = search.advance(step)
        assert done == (index == len(rows) - 1)
        if not done:
            fed.append(step.next_ids[0])
    return fed


class TableModel:
    """Random log-probabilities after each output, fixed by a seed; sharper where `scale` is."""

    def __init__(self, size: int, seed: int, scale: float = 2.0) -> None:
        self._size = size
        self._seed = seed
        self._scale = scale
        self._known: dict[tuple[int, ...], np.ndarray] = {}

    def __call__(self, tokens: tuple[int, ...]) -> np.ndarray:
        if tokens not in self._known:
            generator = np.random.default_rng([self._seed, *tokens])
            logits = generator.normal(0, self._scale, self._size)
            log_probs = logits - np.log(np.exp(logits).sum())
            self._known[tokens] = log_probs.astype(np.float32)
        return self._known[tokens]

    def torch(self, tokens: tuple[int, ...]) -> torch.Tensor:
        return torch.from_numpy(self(tokens).copy())


def run(search: Search, model: TableModel, extra: int = 0) -> list[int]:
    """Run a search to its end on rows that are only remembered outputs.

    Returns:
        How many rows each step had.
    """
    histories: list[tuple[int, ...]] = [()]
    search.rows = [0]
    counts = []
    while True:
        counts.append(len(histories))
        assert len(histories) <= search.most_rows
        rows = [model(history) for history in histories]
        k = len(rows[0]) if search.all_log_probs else min(len(rows[0]), search.candidates + extra)
        step = step_of(*rows, k=k)
        if search.advance(step):
            return counts
        if search.parents is None:
            pairs = zip(histories, step.next_ids, strict=True)
        else:
            parents = [histories[parent] for parent in search.parents]
            pairs = zip(parents, search.parent_ids, strict=True)
            search.parents = None
        histories = [(*history, token) for history, token in pairs]
        search.rows = list(range(len(histories)))
