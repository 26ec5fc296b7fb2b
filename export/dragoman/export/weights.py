"""weights.bin: the parameters of all graphs, each stored once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import onnx_ir as ir

from dragoman.engine.bundle import WEIGHTS

# Smaller tensors stay in the graph: ONNX Runtime folds only what it finds there.
_SMALLEST_EXTERNAL = 256
_ALIGNMENT = 64


def save_graphs(graphs: Mapping[str, ir.Model], directory: Path) -> int:
    """Write graphs and the one file of weights that they share.

    Args:
        graphs: by file name; their initialisers are replaced by references into the file.
        directory: where to write; it exists.

    Returns:
        Bytes of all initialisers, in the file and in the graphs.
    """
    writer = _Writer()
    inline = sum(writer.move_weights(model) for model in graphs.values())
    (directory / WEIGHTS).write_bytes(writer.content)
    for name, model in graphs.items():
        ir.save(model, directory / name)
    return len(writer.content) + inline


class _Writer:
    """Appends tensors to one block of bytes; equal ones share their place."""

    def __init__(self) -> None:
        self.content = bytearray()
        self._offsets: dict[bytes, int] = {}

    def move_weights(self, model: ir.Model) -> int:
        """Replace a graph's initialisers by references; return the bytes that stay inside."""
        inline = 0
        for name, value in model.graph.initializers.items():
            tensor = value.const_value
            if tensor is None or tensor.nbytes < _SMALLEST_EXTERNAL:
                inline += 0 if tensor is None else tensor.nbytes
                continue
            offset = self._place(tensor.tobytes())
            value.const_value = ir.ExternalTensor(
                WEIGHTS,
                offset,
                tensor.nbytes,
                tensor.dtype,
                shape=ir.Shape(tensor.shape.numpy()),
                name=name,
            )
        return inline

    def _place(self, content: bytes) -> int:
        key = hashlib.sha256(content).digest()
        if key not in self._offsets:
            self.content.extend(bytes(-len(self.content) % _ALIGNMENT))
            self._offsets[key] = len(self.content)
            self.content.extend(content)
        return self._offsets[key]
