"""ONNX operators that torch has no name for, as functions that mean something in an export only."""

from __future__ import annotations

import torch
from torch import Tensor

OPSET = 21


def gather_rows(table: Tensor, ids: Tensor) -> Tensor:
    """Pick entries of the first axis: [count, ...] by ids of any integer type, [rows]."""
    return torch.onnx.ops.symbolic(
        "ai.onnx::Gather",
        (table, ids),
        {"axis": 0},
        dtype=table.dtype,
        shape=(ids.shape[0], *table.shape[1:]),
        version=OPSET,
    )


def quantize(values: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    """Round `values / scale + zero_point` half to even and saturate it to zero_point's type."""
    return torch.onnx.ops.symbolic(
        "ai.onnx::QuantizeLinear",
        (values, scale, zero_point),
        dtype=zero_point.dtype,
        shape=values.shape,
        version=OPSET,
    )


def dequantize_rows(values: Tensor, scales: Tensor) -> Tensor:
    """Multiply each row of int8 [rows, columns] by its scale, float32 [rows]."""
    return torch.onnx.ops.symbolic(
        "ai.onnx::DequantizeLinear",
        (values, scales),
        {"axis": 0},
        dtype=torch.float32,
        shape=values.shape,
        version=OPSET,
    )


def integer_product(
    values: Tensor, weight: Tensor, scale: Tensor, zero_point: Tensor, columns: Tensor, bias: Tensor
) -> Tensor:
    """Return `(values - zero_point) @ weight x scale x columns + bias`, summed in integers.

    Args:
        values: uint8 [batch, length, in]
        weight: int8 [in, out]
        scale: of the values, float32 scalar
        zero_point: of the values, uint8 scalar
        columns: scales of the weight's columns, float32 [out]
        bias: float32 [out]
    """
    return torch.onnx.ops.symbolic(
        "com.microsoft::MatMulIntegerToFloat",
        (values, weight, scale, columns, zero_point, None, bias),
        dtype=torch.float32,
        shape=(*values.shape[:-1], weight.shape[1]),
        version=1,
    )


def transposed_integer_product(
    values: Tensor, weight: Tensor, scale: Tensor, zero_point: Tensor, rows: Tensor, zeros: Tensor
) -> Tensor:
    """Return `(values - zero_point) @ weight.T x scale x rows`, summed in integers.

    Args:
        values: uint8 [batch, in]
        weight: int8 [out, in]
        scale: of the values, float32 scalar
        zero_point: of the values, uint8 scalar
        rows: scales of the weight's rows, float32 [out]
        zeros: zero points of the weight's rows, int8 [out]
    """
    return torch.onnx.ops.symbolic(
        "com.microsoft::QGemm",
        (values, scale, zero_point, weight, rows, zeros),
        {"transB": 1},
        dtype=torch.float32,
        shape=(values.shape[0], weight.shape[0]),
        version=1,
    )


def transposed_product(values: Tensor, weight: Tensor) -> Tensor:
    """Return `values @ weight.T` for [batch, in] and [out, in], with no transposed copy."""
    return torch.onnx.ops.symbolic(
        "com.microsoft::FusedMatMul",
        (values, weight),
        {"transB": 1},
        dtype=torch.float32,
        shape=(values.shape[0], weight.shape[0]),
        version=1,
    )


def normalise(
    values: Tensor, weight: Tensor, bias: Tensor, epsilon: float
) -> tuple[Tensor, Tensor]:
    """Normalise the last axis; return the result and 1 / standard deviation, [..., 1].

    The latter is not finite if and only if one of the values is not.
    """
    normed, _, inverse = torch.onnx.ops.symbolic_multi_out(
        "ai.onnx::LayerNormalization",
        (values, weight, bias),
        {"axis": -1, "epsilon": epsilon},
        dtypes=(torch.float32,) * 3,
        shapes=(values.shape, (*values.shape[:-1], 1), (*values.shape[:-1], 1)),
        version=OPSET,
    )
    return normed, inverse


def add(left: Tensor, right: Tensor) -> Tensor:
    """Add tensors of the same shape.

    As `Sum`, since ONNX Runtime fuses `Add` and a layer normalisation behind it into a kernel that
    takes several times as long as the two.
    """
    return torch.onnx.ops.symbolic(
        "ai.onnx::Sum", (left, right), dtype=left.dtype, shape=left.shape, version=OPSET
    )


def top(values: Tensor, count: Tensor, *, largest: bool = True) -> tuple[Tensor, Tensor]:
    """Return the first of each row's values in order, and their places, lowest place first.

    Args:
        values: [rows, columns]
        count: int64 [1]
        largest: whether the order is descending
    """
    shape = (values.shape[0], 2)  # a stand-in: only `count` knows, when the graph runs
    found, places = torch.onnx.ops.symbolic_multi_out(
        "ai.onnx::TopK",
        (values, count),
        {"largest": int(largest)},
        dtypes=(values.dtype, torch.int64),
        shapes=(shape, shape),
        version=OPSET,
    )
    return found, places


def flatten_groups(values: Tensor) -> Tensor:
    """[rows, count, width] -> [rows, count x width], whatever the count."""
    rows, count, width = values.shape
    return torch.onnx.ops.symbolic(
        "ai.onnx::Reshape",
        (values, torch.tensor([0, -1])),
        dtype=values.dtype,
        shape=(rows, count * width),
        version=OPSET,
    )


def gather_groups(values: Tensor, places: Tensor) -> Tensor:
    """Pick from [rows, groups, width] by int64 [rows, count], as [rows, count, width]."""
    return torch.onnx.ops.symbolic(
        "ai.onnx::GatherND",
        (values, places.unsqueeze(2)),
        {"batch_dims": 1},
        dtype=values.dtype,
        shape=(*places.shape, values.shape[2]),
        version=OPSET,
    )
