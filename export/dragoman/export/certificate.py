"""What an export must prove before its bundle is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import onnx_ir as ir
import torch
from numpy.typing import NDArray

from dragoman.engine import Hypothesis, TargetScore
from dragoman.export.graphs import ExportError
from dragoman.export.precisions import Precisions
from dragoman.export.runner import Floats, GraphRunner, Row, Stepped, padded
from dragoman.export.samples import longest_row, sample_batches
from dragoman.transformer import Transformer

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
        for rows in (*sample_batches(model.config), longest_row(model.config))
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


def check_reading(runner: GraphRunner, bound: float) -> Check:
    """Compare the graph that reads whole targets, for alignments, with the one that steps.

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
        "reading_error",
        "largest difference between a token's log-probability read with the whole target, as "
        "alignments are, and decoded step by step",
        _largest(errors),
        bound,
        "nats",
    )


def check_scoring(outputs: Sequence[tuple[Hypothesis, TargetScore]]) -> Check:
    """Compare the log-probabilities of outputs as they were decoded and as given translations.

    Args:
        outputs: outputs of the engine, and what it says when it is asked to score them.
    """
    errors: list[np.floating[Any]] = []
    for hypothesis, score in outputs:
        decoded = np.array(hypothesis.log_probabilities)
        errors.append(np.abs(decoded - score.log_probabilities[: len(decoded)]).max())
    return Check(
        "scoring_error",
        "largest difference between a token's log-probability where it was decoded and where the "
        "same translation was given to be scored",
        _largest(errors),
        1e-3,
        "nats",
    )


def check_finite(graphs: Iterable[ir.Model]) -> Check:
    """Count parameters that are not finite.

    Where all are finite, no number of an int8 graph can be otherwise: its products are sums of
    integers times their scales. And nobody would see it: rounding makes an integer of it.
    """
    values = (value.const_value for graph in graphs for value in graph.graph.initializers.values())
    arrays = (value.numpy() for value in values if value is not None)
    bad = sum(_not_finite(array) for array in arrays if array.dtype.kind == "f")
    return Check(
        "non_finite_parameters", "numbers of the graphs' initialisers that are not finite", bad, 0.0
    )


def _not_finite(array: NDArray[Any]) -> int:
    """Count what is not finite; one minus infinity by itself is what attention is masked with."""
    masks = array.ndim == 0 and array == -np.inf
    return 0 if masks else int((~np.isfinite(array)).sum())


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


def check_bytes(stored: int, model: Transformer, precisions: Precisions) -> Check:
    """Compare the bytes of all initialisers with what the parameters need when stored once.

    Args:
        stored: bytes in weights.bin and in the graphs.
        model: its parameters; those of one dimension stay float32.
        precisions: of the matrices, which in int8 have a scale for each column, and of the caches,
            which have a step for each channel of both attentions' keys and values.
    """
    parameters = list(model.parameters())
    matrices = [parameter for parameter in parameters if parameter.dim() == 2]
    rounded = precisions.matrices == "int8"
    width, scales = (1, sum(m.shape[0] for m in matrices)) if rounded else (4, 0)
    vectors = sum(parameter.numel() for parameter in parameters if parameter.dim() == 1)
    positions = model.config.max_positions * model.config.d_model
    steps = 4 * model.config.decoder_layers * model.config.d_model
    steps = steps if precisions.caches == "int8" else 0
    needed = width * sum(m.numel() for m in matrices) + 4 * (vectors + scales + positions + steps)
    return Check(
        "stored_bytes_ratio",
        "bytes of all graphs' initialisers against those of every parameter stored once, with "
        "scales and one position table",
        stored / needed,
        1.05,
    )


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
