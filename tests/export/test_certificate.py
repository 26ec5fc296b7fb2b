"""Checks notice what is wrong."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest

from dragoman.engine import FinishReason, Hypothesis, TargetScore
from dragoman.engine.bundle import WEIGHTS
from dragoman.export.certificate import (
    CertificateError,
    Check,
    check_bytes,
    check_finite,
    check_independence,
    check_reading,
    check_scoring,
    check_stepping,
)
from dragoman.export.graphs import decoder_model
from dragoman.export.precisions import Precisions
from dragoman.export.runner import GraphRunner, Row, Stepped
from dragoman.export.samples import sample_batches, sample_sources
from tests.export.conftest import Graphs, graphs_of, prepared, random_model


def test_a_value_up_to_its_bound_passes() -> None:
    for value in (0.0, 0.5, 1.0):
        check = Check("loss", "what is lost", value, 1.0)
        assert check.require() is check
    assert Check("figure", "only told", 1e9).require()


@pytest.mark.parametrize("value", [1.0001, math.inf, math.nan])
def test_a_value_above_its_bound_names_itself(value: float) -> None:
    with pytest.raises(CertificateError, match=r"loss: .* exceeds 1 \(what is lost\)"):
        Check("loss", "what is lost", value, 1.0).require()


def test_only_what_is_given_is_written() -> None:
    assert Check("a", "b", 0.0, 0.0).to_dict() == {
        "name": "a",
        "description": "b",
        "value": 0.0,
        "bound": 0.0,
    }
    assert Check("a", "b", 2.0, unit="nats").to_dict() == {
        "name": "a",
        "description": "b",
        "value": 2.0,
        "unit": "nats",
    }


def test_batches_have_sizes_that_no_graph_was_traced_with() -> None:
    batches = list(sample_batches(random_model("pre").config))
    sizes = {(len(rows), max(len(row.source) for row in rows)) for rows in batches}
    assert {batch for batch, _ in sizes} == {1, 2, 7, 45}
    assert {1, 5, 160} <= {source for _, source in sizes}
    assert any(len({row.start for row in rows}) > 1 for rows in batches)


@pytest.mark.parametrize("part", [0.0, 0.25, 0.5, 0.75])
def test_a_disturbed_weight_fails_the_certificate(copied_graphs: Graphs, part: float) -> None:
    path = copied_graphs.directory / WEIGHTS
    weights = np.fromfile(path, np.float32)
    at = int(part * weights.size)
    weights[at : at + 64] += 0.05 * np.resize([1, -1], 64)
    weights.tofile(path)
    with pytest.raises(CertificateError, match="stepped_error"):
        check_stepping(copied_graphs.model, copied_graphs.runner()).require()


def test_not_a_number_fails_the_certificate(copied_graphs: Graphs) -> None:
    path = copied_graphs.directory / WEIGHTS
    weights = np.fromfile(path, np.float32)
    weights[100] = np.nan
    weights.tofile(path)
    runner = copied_graphs.runner()
    with pytest.raises(CertificateError):
        check_stepping(copied_graphs.model, runner).require()
    with pytest.raises(CertificateError):
        check_reading(runner, 1.0).require()


class Leaking(GraphRunner):
    """Lets the number of rows show in one number by the smallest step that there is."""

    def step_through(self, rows: list[Row]) -> list[Stepped]:  # type: ignore[override]
        found = super().step_through(rows)
        if len(rows) > 1:
            found[0].log_probs[0, 0] = np.nextafter(found[0].log_probs[0, 0], 0)
        return found


def test_one_bit_of_a_neighbour_is_noticed() -> None:
    graphs = graphs_of("pre-fp32")
    leaking = Leaking(graphs.directory, graphs.config)
    check = check_independence(graphs.runner(), leaking)
    assert check.value > 0
    with pytest.raises(CertificateError, match="neighbour_dependence"):
        check.require()


def outputs(*scored: float) -> list[tuple[Hypothesis, TargetScore]]:
    """An output of two tokens that the length cut, and its scores, end-of-sentence last."""
    hypothesis = Hypothesis((5, 6), (-1.0, -2.0), FinishReason.LENGTH, score=-3.0)
    return [(hypothesis, TargetScore(scored))]


def test_a_score_must_be_what_was_decoded() -> None:
    assert check_scoring(outputs(-1.0, -2.0, -9.0)).require().value == 0
    assert check_scoring(outputs(-1.0, -2.0009, -9.0)).require().value > 0
    for scored in ((-1.0, -2.0011, -9.0), (math.nan, -2.0, -9.0)):
        with pytest.raises(CertificateError, match="scoring_error"):
            check_scoring([*outputs(-1.0, -2.0, -9.0), *outputs(*scored)]).require()


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_parameter_that_is_not_finite_is_found(precision: str, value: float) -> None:
    model, arithmetic = prepared(random_model("pre"), precision, precision)
    graph = decoder_model(model, arithmetic)
    assert check_finite([graph]).require().value == 0
    name, spoiled = next(
        (name, initializer.const_value.numpy().copy())
        for name, initializer in graph.graph.initializers.items()
        if initializer.const_value is not None and initializer.const_value.dtype.is_floating_point()
    )
    spoiled.flat[0] = value
    graph.graph.initializers[name].const_value = ir.tensor(spoiled)
    with pytest.raises(CertificateError, match="non_finite_parameters: 1 exceeds 0"):
        check_finite([graph]).require()


def test_sources_to_try_are_text_that_ends() -> None:
    config = random_model("pre").config
    sources = sample_sources(config)
    assert sources == sample_sources(config)
    assert len({len(source) for source in sources}) > 10
    assert all(source[-1] == config.eos_id and min(source[:-1]) > 3 for source in sources)


def test_a_second_embedding_is_noticed() -> None:
    model = random_model("pre")
    needed = 4 * (model.parameter_count() + model.positions.table.numel())
    assert check_bytes(needed, model, Precisions("fp32", "fp32")).value == 1
    again = 4 * model.embedding.weight.numel()
    with pytest.raises(CertificateError, match="stored_bytes_ratio"):
        check_bytes(needed + again, model, Precisions("fp32", "fp32")).require()
