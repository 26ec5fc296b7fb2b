"""What an export must prove before its bundle is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from dragoman.export.graphs import ExportError
from dragoman.export.runner import Floats, GraphRunner, Row, Stepped, padded
from dragoman.transformer import Transformer, TransformerConfig

# Batches and source lengths, none of them the one that the graphs were traced with.
_SIZES = ((1, 1), (1, 249), (2, 5), (2, 249), (7, 1), (7, 249), (45, 5))
_TARGET = 12
_YOUNGEST = 4
_ALONE_AT_MOST = 7


class CertificateError(ExportError):
    """A check failed; the message names it, its value and its bound."""


@dataclass(frozen=True, slots=True)
class Check:
    """One measured value and what it may be at most.

    Attributes:
        name: in lower case with underscores.
        description: what was measured, in a sentence.
        value: the measurement.
        bound: the largest value that passes, or None for a figure that is only reported.
        unit: of the value, empty for a count.
    """

    name: str
    description: str
    value: float
    bound: float | None = None
    unit: str = ""

    def require(self) -> Check:
        """Return the check.

        Raises:
            CertificateError: The value is above the bound, or not a number.
        """
        if self.bound is not None and not self.value <= self.bound:
            raise CertificateError(
                f"{self.name}: {self.value:.6g} exceeds {self.bound:.6g} ({self.description})"
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, without those that are not given."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}


def check_stepping(model: Transformer, runner: GraphRunner) -> Check:
    """Compare stepped decoding of rows of different age with PyTorch, which keeps no cache."""
    errors = [
        np.abs(stepped.log_probs - reference).max()
        for rows in (*sample_batches(model.config), _longest(model.config))
        for stepped, reference in zip(
            runner.step_through(rows), _reference(model, rows), strict=True
        )
    ]
    return Check(
        "stepped_error",
        "largest difference between a log-probability of the fp32 graphs, decoding step by step "
        "with caches, and of the uncached PyTorch model",
        _largest(errors),
        1e-4,
        "nats",
    )


def check_scoring(runner: GraphRunner, bound: float) -> Check:
    """Compare the graph that reads whole targets with the one that steps.

    Args:
        runner: runs both.
        bound: what they may differ by. In int8 a difference in the last bit can make an
            activation round the other way.
    """
    errors: list[np.floating[Any]] = []
    for rows in sample_batches(runner.config):
        next_ids = [(*row.target[1:], runner.config.eos_id) for row in rows]
        scores = runner.score(rows, next_ids)
        for stepped, score, ids in zip(runner.step_through(rows), scores, next_ids, strict=True):
            chosen = stepped.log_probs[np.arange(len(ids)), ids]
            errors.append(np.abs(score - chosen).max())
    return Check(
        "scoring_error",
        "largest difference between a token's log-probability read with the whole target and "
        "decoded step by step",
        _largest(errors),
        bound,
        "nats",
    )


def check_independence(alone: GraphRunner, together: GraphRunner) -> Check:
    """Count rows that give other numbers in a batch than alone.

    Args:
        alone: runs each row by itself.
        together: runs the batches, with another number of threads.
    """
    differing = 0
    for rows in sample_batches(alone.config):
        batch = together.step_through(rows)
        chosen = range(0, len(rows), max(1, len(rows) // _ALONE_AT_MOST))
        differing += sum(not batch[i].equals(_by_itself(alone, rows[i])) for i in chosen)
    return Check(
        "neighbour_dependence",
        "rows of ragged batches whose numbers are not, bit for bit, those of the row alone",
        differing,
        0.0,
    )


def check_bytes(stored: int, model: Transformer, width: int) -> Check:
    """Compare the bytes of all initialisers with what the parameters need when stored once.

    Args:
        stored: bytes in weights.bin and in the graphs.
        model: its parameters; those of one dimension stay float32.
        width: bytes of one element of a matrix.
    """
    parameters = list(model.parameters())
    matrices = [parameter for parameter in parameters if parameter.dim() == 2]
    scales = sum(matrix.shape[0] for matrix in matrices) if width == 1 else 0
    vectors = sum(parameter.numel() for parameter in parameters if parameter.dim() == 1)
    positions = model.config.max_positions * model.config.d_model
    needed = width * sum(m.numel() for m in matrices) + 4 * (vectors + scales + positions)
    return Check(
        "stored_bytes_ratio",
        "bytes of all graphs' initialisers against those of every parameter stored once, with "
        "scales and one position table",
        stored / needed,
        1.05,
    )


def sample_batches(config: TransformerConfig) -> Iterator[list[Row]]:
    """Yield ragged batches of random rows, the same ones every time."""
    generator = np.random.default_rng(1)
    for batch, source in _SIZES:
        yield _sample(config, batch, min(source, config.max_positions), generator)


def _sample(
    config: TransformerConfig, batch: int, source: int, generator: np.random.Generator
) -> list[Row]:
    target = min(_TARGET, config.max_positions)
    lengths = [(source, target)]
    lengths += [
        (int(generator.integers(1, source + 1)), int(generator.integers(1, target + 1)))
        for _ in range(batch - 1)
    ]
    return [
        Row(
            _ids(config, source_length, generator),
            (config.bos_id, *_ids(config, target_length, generator)[1:]),
            int(generator.integers(_YOUNGEST)),
        )
        for source_length, target_length in lengths
    ]


def _longest(config: TransformerConfig) -> list[Row]:
    generator = np.random.default_rng(2)
    source, target = (_ids(config, config.max_positions, generator) for _ in range(2))
    return [Row(source, (config.bos_id, *target[1:]))]


def _ids(config: TransformerConfig, count: int, generator: np.random.Generator) -> tuple[int, ...]:
    return tuple(generator.integers(config.vocabulary_size, size=count).tolist())


def _by_itself(runner: GraphRunner, row: Row) -> Stepped:
    return runner.step_through([Row(row.source, row.target)])[0]


def _largest(errors: Sequence[np.floating[Any]]) -> float:
    """Return the largest error; where one is not a number, that."""
    return float(np.max(errors))


@torch.no_grad()
def _reference(model: Transformer, rows: Iterable[Row]) -> list[Floats]:
    chosen = list(rows)
    sources = torch.from_numpy(padded([row.source for row in chosen], model.config.pad_id))
    targets = torch.from_numpy(padded([row.target for row in chosen], model.config.pad_id))
    lengths = torch.tensor([len(row.source) for row in chosen])
    log_probs = model(sources, lengths, targets).log_softmax(-1).numpy()
    return [found[: len(row.target)] for found, row in zip(log_probs, chosen, strict=True)]
