"""ONNX operators that torch has no name for, as functions that mean something in an export only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

OPSET = 21


@dataclass(frozen=True, slots=True)
class KeyLengths:
    """How many keys each row may look at, in the two forms that the attention kernel asks for.

    Attributes:
        last: index of each row's last key, int32 [rows]
        longest: keys of the longest row, int32 scalar
    """

    last: Tensor
    longest: Tensor


def self_attention(packed: Tensor, heads: int, lengths: KeyLengths, *, causal: bool) -> Tensor:
    """Attend within each row.

    Args:
        packed: queries, keys and values side by side, [batch, length, 3 x d_model]
        heads: attention heads
        lengths: real tokens of each row (what stands to their right is never looked at), and
            `length`
        causal: whether position i sees positions 0..i only

    Returns:
        [batch, length, d_model]
    """
    batch, length, width = packed.shape
    cache = (batch, heads, length, width // 3 // heads)
    inputs = (packed, None, None, None, None, lengths.last, lengths.longest)
    shapes = ((batch, length, width // 3), cache, cache)
    return _attention(inputs, shapes, heads, causal=causal)[0]


def cached_self_attention(
    packed: Tensor, past_key: Tensor, past_value: Tensor, heads: int, lengths: KeyLengths
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend from one new token of each row to all of that row's tokens.

    The new keys and values are put into the caches. ONNX Runtime writes them in place, and copies
    nothing, where a cache that goes in and the one that comes out are bound to the same memory.

    Args:
        packed: of the new token, [rows, 1, 3 x d_model]
        past_key: [rows, heads, capacity, head_size]
        past_value: the same
        heads: attention heads
        lengths: tokens of each row, the new one included

    Returns:
        The context [rows, 1, d_model] and both caches.
    """
    rows, _, width = packed.shape
    inputs = (packed, None, None, past_key, past_value, lengths.last, lengths.longest)
    shapes = ((rows, 1, width // 3), past_key.shape, past_value.shape)
    context, key, value = _attention(inputs, shapes, heads, causal=True)
    return context, key, value


def cross_attention(
    query: Tensor, empty: Tensor, key: Tensor, value: Tensor, heads: int, lengths: KeyLengths
) -> Tensor:
    """Attend from one token of each row to keys and values that are only read.

    Args:
        query: [rows, 1, d_model]
        empty: the new keys and the new values, of which there are none, [rows, 0, d_model]
        key: [rows, heads, source_capacity, head_size]
        value: the same
        heads: attention heads
        lengths: real source tokens of each row

    Returns:
        [rows, 1, d_model]
    """
    inputs = (query, empty, empty, key, value, lengths.last, lengths.longest)
    return _attention(inputs, (query.shape,), heads, causal=False)[0]


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
    """Round `values / scale + zero_point` half to even and saturate it to uint8."""
    return torch.onnx.ops.symbolic(
        "ai.onnx::QuantizeLinear",
        (values, scale, zero_point),
        dtype=torch.uint8,
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


def _attention(
    inputs: Sequence[Tensor | None],
    shapes: Sequence[Sequence[int | torch.SymInt]],
    heads: int,
    *,
    causal: bool,
) -> Sequence[Tensor]:
    return torch.onnx.ops.symbolic_multi_out(
        "com.microsoft::GroupQueryAttention",
        inputs,
        {"num_heads": heads, "kv_num_heads": heads, "causal": int(causal)},
        dtypes=(torch.float32,) * len(shapes),
        shapes=shapes,
        version=1,
    )
