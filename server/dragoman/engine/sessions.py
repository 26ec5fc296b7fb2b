"""ONNX graphs bound to buffers that stay where they are: first of all, the one that decodes."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from dragoman.engine.cache import Cache, Values
from dragoman.engine.errors import BundleError

Array = NDArray[np.generic]

_CANDIDATES = (8, 16, 32, 64, 128)
MOST_CANDIDATES = _CANDIDATES[-1]


@cache
def _share_arena() -> None:
    """Let sessions take memory from one place, which grows by what is asked for.

    By default each doubles what it takes, and keeps what only loading needed: a quarter of a
    model's bytes.
    """
    arena, as_requested = ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 1
    place = ort.OrtMemoryInfo("Cpu", arena, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(place, ort.OrtArenaCfg(0, as_requested, -1, -1))


def open_session(path: Path, threads: int, *, keeps_memory: bool = True) -> ort.InferenceSession:
    """Load a graph for the CPU.

    Args:
        path: the `.onnx` file; its weights lie beside it.
        threads: threads for one run of it.
        keeps_memory: whether memory that a run needed is kept for the next.

    Raises:
        BundleError: if ONNX Runtime can't load it.
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = keeps_memory
    if keeps_memory:
        _share_arena()
        options.add_session_config_entry("session.use_env_allocators", "1")
    # Shapes change with every step: a plan made for one of them is of no use for the next.
    options.enable_mem_pattern = False
    # The cores are shared with the other graph and the server; idle threads must sleep.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise BundleError(path.name, f"can't be loaded ({error})") from error


def bind_input(binding: ort.IOBinding, name: str, array: Array, shape: tuple[int, ...]) -> None:
    """Let runs read an input from an array's memory."""
    binding.bind_input(name, "cpu", 0, array.dtype, shape, array.ctypes.data)


def bind_output(binding: ort.IOBinding, name: str, array: Array, shape: tuple[int, ...]) -> None:
    """Let runs write an output into an array's memory."""
    binding.bind_output(name, "cpu", 0, array.dtype, shape, array.ctypes.data)


@dataclass(frozen=True, slots=True)
class StepInput:
    """What the next step reads for each row; written in place between steps.

    Attributes:
        token: int64 [rows], the token fed.
        length: int32 [rows], tokens fed before it, which is its position.
        source_length: int32 [rows], positions of the row's source.
    """

    token: NDArray[np.int64]
    length: NDArray[np.int32]
    source_length: NDArray[np.int32]

    @classmethod
    def zeros(cls, rows: int) -> "StepInput":
        """Give input for this many rows."""
        return cls(np.zeros(rows, np.int64), np.zeros(rows, np.int32), np.zeros(rows, np.int32))


def _nothing() -> NDArray[np.float32]:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class StepOutput:
    """What one step gives: views of buffers that the next step overwrites.

    Attributes:
        top_ids: int64 [rows, k], each row's most probable tokens, best first.
        top_log_probs: float32 [rows, k], their log-probabilities.
        log_probs: float32 [rows, vocabulary] where it was asked for, else empty.
        evidence: float32 [rows], not finite where a number behind a row's output was not, which
            int8 hides; empty where a step has none.
        best_ids: the first column of `top_ids`.
        best_log_probs: the first column of `top_log_probs`.
        row_evidence: `evidence`.
    """

    top_ids: NDArray[np.int64]
    top_log_probs: NDArray[np.float32]
    log_probs: NDArray[np.float32]
    evidence: NDArray[np.float32] = field(default_factory=_nothing)
    # Read at every step, for which numpy's own way takes several times as long.
    best_ids: memoryview = field(init=False)
    best_log_probs: "memoryview[float]" = field(init=False)
    row_evidence: "memoryview[float]" = field(init=False)

    def __post_init__(self) -> None:
        """Prepare what every step reads."""
        object.__setattr__(self, "best_ids", self.top_ids[:, 0].data)
        object.__setattr__(self, "best_log_probs", self.top_log_probs[:, 0].data)
        object.__setattr__(self, "row_evidence", self.evidence.data)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A prepared run: everything that doesn't change between steps of equal size."""

    binding: ort.IOBinding
    output: StepOutput


class DecoderSession:
    """Feeds one token to each of the first n rows."""

    def __init__(
        self, session: ort.InferenceSession, cache: Cache, step_input: StepInput, vocabulary: int
    ) -> None:
        """Wrap a loaded `decoder.onnx`.

        Args:
            session: the graph.
            cache: read and extended in place by every step.
            step_input: read by every step.
            vocabulary: tokens that the model chooses among.
        """
        rows = cache.shape.rows
        self._session = session
        self._cache = cache
        self._input = step_input
        self._candidates = tuple(min(k, vocabulary) for k in _CANDIDATES)
        self._top_ids = np.zeros(rows * self._candidates[-1], np.int64)
        self._top_log_probs = np.zeros(rows * self._candidates[-1], np.float32)
        self._log_probs = np.zeros((rows, vocabulary), np.float32)
        # Bundles of the first format give none; it stays 0.
        self._evidence = np.zeros(rows, np.float32)
        self._given = {output.name for output in session.get_outputs()}
        self._top_k = {k: np.array([k], np.int64) for k in self._candidates}
        self._bound: dict[tuple[int, int, bool], _Bound] = {}

    def run(self, rows: int, candidates: int, *, all_log_probs: bool) -> StepOutput:
        """Compute one step of rows 0 .. rows - 1.

        Args:
            rows: how many, at least 1.
            candidates: how many top tokens are wanted; as many or more are given.
            all_log_probs: whether every token's log-probability is wanted.
        """
        size = next(k for k in self._candidates if k >= candidates)
        key = (rows, size, all_log_probs)
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = self._bind(rows, size, all_log_probs=all_log_probs)
        self._session.run_with_iobinding(bound.binding)
        return bound.output

    def settle(self) -> None:
        """Run once, so that memory is given back that only loading the graph needed."""
        options = ort.RunOptions()
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._input.source_length[0] = 1
        bound = self._bind(1, self._candidates[0], all_log_probs=False)
        self._session.run_with_iobinding(bound.binding, options)
        self._input.source_length[0] = 0

    def _bind(self, rows: int, size: int, *, all_log_probs: bool) -> _Bound:
        output = StepOutput(
            top_ids=self._top_ids[: rows * size].reshape(rows, size),
            top_log_probs=self._top_log_probs[: rows * size].reshape(rows, size),
            log_probs=self._log_probs[: rows if all_log_probs else 0],
            evidence=self._evidence[:rows],
        )
        binding = self._session.io_binding()
        bind_input(binding, "token", self._input.token, (rows,))
        bind_input(binding, "length", self._input.length, (rows,))
        bind_input(binding, "source_length", self._input.source_length, (rows,))
        bind_input(binding, "top_k", self._top_k[size], (1,))
        self._bind_cache(binding, "self", self._cache.target, rows)
        self._bind_cache(binding, "cross", self._cache.source, rows)
        bind_output(binding, "top_ids", output.top_ids, (rows, size))
        bind_output(binding, "top_log_probs", output.top_log_probs, (rows, size))
        if all_log_probs:
            bind_output(binding, "log_probs", output.log_probs, output.log_probs.shape)
        if "evidence" in self._given:
            bind_output(binding, "evidence", self._evidence, (rows, 1, 1))
        return _Bound(binding, output)

    def _bind_cache(self, binding: ort.IOBinding, kind: str, array: Values, rows: int) -> None:
        shape = (rows, *array.shape[3:])
        for layer in range(array.shape[0]):
            for index, part in enumerate(("key", "value")):
                buffer = array[layer, index]
                name = f"{kind}_{part}_{layer}"
                bind_input(binding, name, buffer, shape)
                if f"{name}_out" in self._given:
                    # The same buffer: the graph writes the new position where it belongs.
                    bind_output(binding, f"{name}_out", buffer, shape)
