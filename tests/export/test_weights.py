"""Every parameter is stored once, in one file that all graphs share."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx.external_data_helper import ExternalDataInfo

from dragoman.engine.bundle import DECODER, WEIGHTS
from dragoman.export.certificate import check_bytes
from tests.export.conftest import GRAPHS, Graphs


def initialisers(graphs: Graphs) -> list[onnx.TensorProto]:
    models = [onnx.load(graphs.directory / name, load_external_data=False) for name in GRAPHS]
    return [tensor for model in models for tensor in model.graph.initializer]


def places(graphs: Graphs) -> set[tuple[int, int]]:
    """Offset and length of everything that the graphs read from weights.bin."""
    found = set()
    for tensor in initialisers(graphs):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            info = ExternalDataInfo(tensor)
            assert info.location == WEIGHTS
            found.add((int(info.offset or 0), int(info.length or 0)))
    return found


def stored_bytes(graphs: Graphs) -> int:
    """Count the file, and what is inside a graph every time."""
    inside = sum(len(tensor.raw_data) for tensor in initialisers(graphs))
    return inside + (graphs.directory / WEIGHTS).stat().st_size


def test_bytes_are_those_of_every_parameter_once(graphs: Graphs) -> None:
    check = check_bytes(stored_bytes(graphs), graphs.model, graphs.precisions)
    assert 1 <= check.value <= 1.05


def test_no_content_is_stored_twice(graphs: Graphs) -> None:
    content = (graphs.directory / WEIGHTS).read_bytes()
    seen: Counter[str] = Counter()
    for offset, length in places(graphs):
        seen[hashlib.sha256(content[offset : offset + length]).hexdigest()] += 1
    assert set(seen.values()) == {1}


def test_the_embedding_is_one_matrix_for_lookup_and_projection(graphs: Graphs) -> None:
    size = (graphs.config.vocabulary_size, graphs.config.d_model)
    for name in GRAPHS:
        model = onnx.load(graphs.directory / name, load_external_data=False)
        matrices = [t.name for t in model.graph.initializer if sorted(t.dims) == sorted(size)]
        assert len(matrices) == 1


def test_offsets_are_aligned(graphs: Graphs) -> None:
    assert all(offset % 64 == 0 for offset, _ in places(graphs))


def test_a_graph_without_its_weights_is_refused(copied_graphs: Graphs) -> None:
    (copied_graphs.directory / WEIGHTS).unlink()
    with pytest.raises(Exception, match=WEIGHTS):
        ort.InferenceSession(copied_graphs.directory / DECODER)


def test_weights_are_those_of_the_model(fp32_graphs: Graphs) -> None:
    content = np.fromfile(fp32_graphs.directory / WEIGHTS, np.float32)
    embedding = fp32_graphs.model.embedding.weight.detach().numpy().ravel()
    windows = np.flatnonzero(content == embedding[0])
    assert any(np.array_equal(content[at : at + embedding.size], embedding) for at in windows)
