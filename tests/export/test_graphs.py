"""What the graphs are made of."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx
import onnxruntime as ort
import pytest

from dragoman.engine.bundle import DECODER, ENCODER, SCORER
from dragoman.export.graphs import ExportError, require_exportable
from dragoman.export.operators import OPSET
from dragoman.transformer import TransformerConfig
from tests.export.conftest import GRAPHS, Graphs

LAYERS = 2


def load(graphs: Graphs, name: str) -> onnx.ModelProto:
    return onnx.load(graphs.directory / name, load_external_data=False)


def node_counts(graph: onnx.GraphProto) -> Counter[str]:
    return Counter(node.op_type for node in graph.node)


def shapes(values: list[onnx.ValueInfoProto]) -> dict[str, list[str | int]]:
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in values
    }


def test_a_step_multiplies_each_matrix_once_and_recomputes_no_source(graphs: Graphs) -> None:
    counts = node_counts(load(graphs, DECODER).graph)
    products, projection = {
        "fp32": ("MatMul", "FusedMatMul"),
        "int8": ("MatMulIntegerToFloat", "QGemm"),
    }[graphs.precision]
    # Packed self-attention and its output, cross query and output, two of feed-forward.
    assert counts[products] == 6 * LAYERS
    assert counts[projection] == 1
    assert counts["GroupQueryAttention"] == 2 * LAYERS


def test_a_step_stays_small(graphs: Graphs) -> None:
    assert len(load(graphs, DECODER).graph.node) <= 31 + 20 * LAYERS


def test_int8_rounds_each_input_once(graphs: Graphs) -> None:
    counts = node_counts(load(graphs, ENCODER).graph)
    memory = 1
    kept = 2 * LAYERS if graphs.caches == "int8" else 0
    expected = {"fp32": 0, "int8": 4 * LAYERS + memory + kept}[graphs.precision]
    assert counts["QuantizeLinear"] == expected


def test_int8_holds_no_scale_of_a_whole_batch(graphs: Graphs) -> None:
    for name in GRAPHS:
        assert not [op for op in node_counts(load(graphs, name).graph) if "Dynamic" in op]


def test_every_dynamic_dimension_has_a_name(graphs: Graphs) -> None:
    config = graphs.config
    heads, size, vocabulary = config.heads, config.head_size, config.vocabulary_size
    decoder = load(graphs, DECODER).graph
    inputs, outputs = shapes(list(decoder.input)), shapes(list(decoder.output))
    assert inputs["token"] == inputs["length"] == inputs["source_length"] == ["rows"]
    assert inputs["self_key_1"] == outputs["self_key_1_out"] == ["rows", heads, "capacity", size]
    assert inputs["cross_value_0"] == ["rows", heads, "source_capacity", size]
    assert outputs["top_ids"] == outputs["top_log_probs"] == ["rows", "k"]
    assert outputs["log_probs"] == ["rows", vocabulary]
    encoder = load(graphs, ENCODER).graph
    assert shapes(list(encoder.input))["source_ids"] == ["batch", "source"]
    assert shapes(list(encoder.output))["cross_key_1"] == ["batch", heads, "source", size]
    scorer = load(graphs, SCORER).graph
    assert shapes(list(scorer.output))["attention"] == ["batch", "target", "source"]


def test_operator_sets_are_pinned(graphs: Graphs) -> None:
    for name in GRAPHS:
        versions = {entry.domain: entry.version for entry in load(graphs, name).opset_import}
        assert versions == {"": OPSET, "com.microsoft": 1}


def test_graphs_tell_nothing_about_where_they_were_made(graphs: Graphs) -> None:
    for name in GRAPHS:
        content = (graphs.directory / name).read_bytes()
        assert b".py" not in content
        assert str(Path(__file__).parents[2]).encode() not in content


def test_layer_normalisation_stays_apart_from_sums(graphs: Graphs, tmp_path: Path) -> None:
    for name in GRAPHS:
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = str(tmp_path / name)
        ort.InferenceSession(graphs.directory / name, options)
        optimized = onnx.load(tmp_path / name, load_external_data=False)
        assert "SkipLayerNormalization" not in node_counts(optimized.graph)


def test_head_size_must_suit_the_attention_kernel() -> None:
    with pytest.raises(ExportError, match=r"head_size: 12 .* must be a multiple of 8"):
        require_exportable(TransformerConfig(vocabulary_size=40, d_model=48, heads=4))
    require_exportable(TransformerConfig(vocabulary_size=40, d_model=48, heads=2))
