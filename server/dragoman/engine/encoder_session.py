"""The graph that encodes sources."""

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from dragoman.engine.cache import CacheShape, Values
from dragoman.engine.sessions import bind_input, bind_output

_SIZE_STEP = 8


class EncoderSession:
    """Turns source tokens into the keys and values that the decoder's layers attend to."""

    def __init__(self, session: ort.InferenceSession, shape: CacheShape, pad: int) -> None:
        """Wrap a loaded `encoder.onnx`.

        Args:
            session: the graph.
            shape: sizes of what comes out.
            pad: the token that fills shorter sources up.
        """
        self._session = session
        self._shape = shape
        self._pad = pad
        self._gives_evidence = "evidence" in {output.name for output in session.get_outputs()}

    def run(self, sources: list[tuple[int, ...]]) -> list[Values | None]:
        """Encode several sources at once.

        Returns:
            For each source [layers, 2, heads, length, head_size]; None if a number behind it is
            not finite.
        """
        lengths = np.array([len(source) for source in sources], np.int32)
        # Few different widths keep the memory that ONNX Runtime sets aside small.
        rounded = -(-int(lengths.max()) // _SIZE_STEP) * _SIZE_STEP
        width = min(rounded, self._shape.source_capacity)
        ids = np.full((len(sources), width), self._pad, np.int64)
        for row, source in enumerate(sources):
            ids[row, : len(source)] = source
        evidence = np.zeros((*ids.shape, 1), np.float32)
        encoded = self._run(ids, lengths, evidence)
        return [
            _finite(encoded[:, :, row, :, : len(source)], evidence[row, : len(source)])
            for row, source in enumerate(sources)
        ]

    def _run(
        self, ids: NDArray[np.int64], lengths: NDArray[np.int32], evidence: NDArray[np.float32]
    ) -> Values:
        shape = self._shape
        block = (len(ids), shape.heads, ids.shape[1], shape.head_size)
        encoded = np.empty((shape.layers, 2, *block), shape.dtype)
        binding = self._session.io_binding()
        bind_input(binding, "source_ids", ids, ids.shape)
        bind_input(binding, "source_lengths", lengths, lengths.shape)
        for layer in range(shape.layers):
            bind_output(binding, f"cross_key_{layer}", encoded[layer, 0], block)
            bind_output(binding, f"cross_value_{layer}", encoded[layer, 1], block)
        if self._gives_evidence:
            bind_output(binding, "evidence", evidence, evidence.shape)
        self._session.run_with_iobinding(binding)
        return encoded


def _finite(encoded: Values, evidence: NDArray[np.float32]) -> Values | None:
    finite = np.isfinite(evidence).all()
    if encoded.dtype == np.float32:
        finite = finite and np.isfinite(encoded).all()
    return encoded if finite else None
