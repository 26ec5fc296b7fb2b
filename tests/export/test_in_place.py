"""A step writes one position of its own cache, in place, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from numpy.typing import NDArray

from dragoman.engine.bundle import DECODER
from tests.export.conftest import Graphs, graphs_of

ROWS, CAPACITY, SOURCE_CAPACITY = 3, 13, 9


@pytest.fixture(params=["pre-int8", "pre-int8-fp32"])
def graphs(request: pytest.FixtureRequest) -> Graphs:
    return graphs_of(request.param)


class Step:
    """A decoder with buffers of its own, bound in place."""

    def __init__(self, graphs: Graphs) -> None:
        config = graphs.config
        more = 0 if graphs.caches == "fp32" else config.max_positions
        generator = np.random.default_rng(0)
        layers, shape = config.decoder_layers, (config.heads, config.head_size)

        def cache(capacity: int) -> NDArray[Any]:
            capacity += more
            size = (layers, 2, ROWS, shape[0], capacity, shape[1])
            if graphs.caches == "int8":
                return generator.integers(-127, 128, size, np.int8)
            return generator.standard_normal(size).astype(np.float32)

        self.own, self.cross = cache(CAPACITY), cache(SOURCE_CAPACITY)
        self.length = np.array([0, 5, 12], np.int32)
        self.inputs: dict[str, NDArray[np.generic]] = {
            "token": np.array([2, 9, 8]),
            "length": self.length,
            "source_length": np.array([1, 9, 4], np.int32),
            "top_k": np.array([2]),
        }
        self.top_ids = np.zeros((ROWS, 2), np.int64)
        self.session = ort.InferenceSession(graphs.directory / DECODER)
        self.binding = self.session.io_binding()
        for name, array in self.inputs.items():
            self._bind("input", name, array)
        for layer in range(layers):
            for index, part in enumerate(("key", "value")):
                self._bind("input", f"self_{part}_{layer}", self.own[layer, index])
                self._bind("output", f"self_{part}_{layer}_out", self.own[layer, index])
                self._bind("input", f"cross_{part}_{layer}", self.cross[layer, index])
                if graphs.caches == "int8":
                    self._bind("output", f"cross_{part}_{layer}_out", self.cross[layer, index])
        self._bind("output", "top_ids", self.top_ids)

    def run(self) -> None:
        self.session.run_with_iobinding(self.binding)

    def _bind(self, side: str, name: str, array: NDArray[np.generic]) -> None:
        bind = getattr(self.binding, f"bind_{side}")
        bind(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)


def test_each_row_gets_its_one_new_position(graphs: Graphs) -> None:
    step = Step(graphs)
    before = step.own.copy()
    step.run()
    changed = (step.own != before).any(axis=(0, 1, 3, 5))  # [rows, capacity]
    expected = np.arange(step.own.shape[4]) == step.length[:, None]
    assert np.array_equal(changed, expected)


def test_the_source_is_only_read(graphs: Graphs) -> None:
    step = Step(graphs)
    before = step.cross.copy()
    step.run()
    assert np.array_equal(step.cross, before)


def test_a_step_again_gives_the_same(graphs: Graphs) -> None:
    step = Step(graphs)
    step.run()
    first, cache = step.top_ids.copy(), step.own.copy()
    step.run()
    assert np.array_equal(step.top_ids, first)
    assert np.array_equal(step.own, cache)


def test_outputs_are_candidates_evidence_and_what_the_kernel_may_write_to(graphs: Graphs) -> None:
    session = ort.InferenceSession(graphs.directory / DECODER)
    names = [output.name for output in session.get_outputs()]
    kinds = {"int8": ("self", "cross"), "fp32": ("self",)}[graphs.caches]
    assert names == [
        "top_ids",
        "top_log_probs",
        "log_probs",
        "evidence",
        *[f"{k}_{part}_{i}_out" for i in range(2) for k in kinds for part in ("key", "value")],
    ]
