"""Running one module of an export by itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from torch import nn

from dragoman.export.operators import OPSET

Output = NDArray[Any]


def run_exported(module: nn.Module, *inputs: torch.Tensor) -> Callable[..., Output]:
    """Trace a module whose inputs' first dimension is dynamic; return what runs it."""
    rows = torch.export.Dim("rows")
    dynamic = tuple({0: rows} if tensor.shape[0] > 1 else None for tensor in inputs)
    names = [f"input_{index}" for index in range(len(inputs))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module.eval(),
            inputs,
            dynamo=True,
            dynamic_shapes=dynamic,
            input_names=names,
            output_names=["output"],
            opset_version=OPSET,
            verbose=False,
        )
    assert program is not None
    for node in program.model.graph:
        for value in node.outputs:
            value.shape = None
    session = ort.InferenceSession(program.model_proto.SerializeToString())

    def run(*arrays: NDArray[np.generic]) -> Output:
        output: Output = session.run(None, dict(zip(names, arrays, strict=True)))[0]
        return output

    return run
