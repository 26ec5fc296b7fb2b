"""Running one module of an export by itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import onnxruntime as ort
import torch
from torch import nn

from dragoman.export.operators import OPSET


def run_exported(module: nn.Module, *inputs: torch.Tensor) -> Callable[..., np.ndarray]:
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
            dynamic_shapes=(dynamic,) if _is_variadic(module) else dynamic,
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

    def run(*arrays: np.ndarray) -> np.ndarray:
        output: np.ndarray = session.run(None, dict(zip(names, arrays, strict=True)))[0]
        return output

    return run


def _is_variadic(module: nn.Module) -> bool:
    return "args" in module.forward.__code__.co_varnames
