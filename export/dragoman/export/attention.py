"""The attention kernel, with caches of float32 or of int8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# So little that `exp` of it is 0 beside any score.
_NOTHING = -1e30
_UNROUNDED: Mapping[str, int | str] = {}
_PER_CHANNEL: Mapping[str, int | str] = {
    "k_quant_type": "PER_CHANNEL",
    "v_quant_type": "PER_CHANNEL",
    "kv_cache_bit_width": 8,
}


@dataclass(frozen=True, slots=True)
class KeyLengths:
    """How many keys each row may look at, in the two forms that the attention kernel asks for.

    Attributes:
        last: index of each row's last key, int32 [rows]
        longest: keys of the longest row, int32 scalar; where there is a cache of int8, any number
            from that to the cache's capacity
    """

    last: Tensor
    longest: Tensor


class CacheSteps(nn.Module):
    """The sizes of int8 steps in which keys and values are kept, one for each channel.

    The kernel reads int8 caches by one of two ways. One of them works in blocks, and how large
    they are depends on the machine and on a batch's longest row. The other comes into play where a
    head has a sink, a score that takes part in the softmax and has no value: so there is one, and
    it weighs nothing.
    """

    key: Tensor
    value: Tensor
    sink: Tensor

    def __init__(self, key: Tensor, value: Tensor, heads: int) -> None:
        """Take over the sizes, float32 [d_model] each."""
        super().__init__()
        self.register_buffer("key", key)
        self.register_buffer("value", value)
        self.register_buffer("sink", torch.full((heads,), _NOTHING))

    def restore(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Turn int8 [batch, heads, length, head_size] back into float32."""
        shape = (key.shape[1], 1, key.shape[3])
        return key.float() * self.key.view(shape), value.float() * self.value.view(shape)


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
    packed: Tensor,
    past: tuple[Tensor, Tensor],
    heads: int,
    lengths: KeyLengths,
    steps: CacheSteps | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend from one new token of each row to all of that row's tokens.

    The new keys and values are put into the caches. ONNX Runtime writes them in place, and copies
    nothing, where a cache that goes in and the one that comes out are bound to the same memory.

    Args:
        packed: of the new token, [rows, 1, 3 x d_model]
        past: keys and values, [rows, heads, capacity, head_size] each
        heads: attention heads
        lengths: tokens of each row, the new one included
        steps: of an int8 cache

    Returns:
        The context [rows, 1, d_model] and both caches.
    """
    rows, _, width = packed.shape
    inputs = (packed, None, None, *past, lengths.last, lengths.longest)
    shapes = ((rows, 1, width // 3), past[0].shape, past[1].shape)
    context, key, value = _attention(inputs, shapes, heads, causal=True, steps=steps)
    return context, key, value


def cross_attention(
    query: Tensor,
    empty: Tensor,
    past: tuple[Tensor, Tensor],
    heads: int,
    lengths: KeyLengths,
    steps: CacheSteps | None,
) -> tuple[Tensor, ...]:
    """Attend from one token of each row to keys and values that are only read.

    Args:
        query: [rows, 1, d_model]
        empty: the new keys and the new values, of which there are none, [rows, 0, d_model]
        past: keys and values, [rows, heads, source_capacity, head_size] each
        heads: attention heads
        lengths: real source tokens of each row
        steps: of an int8 cache

    Returns:
        The context [rows, 1, d_model]; for an int8 cache, which the kernel must be able to write
        to, also both caches.
    """
    inputs = (query, empty, empty, *past, lengths.last, lengths.longest)
    shapes = (query.shape,) if steps is None else (query.shape, past[0].shape, past[1].shape)
    return tuple(_attention(inputs, shapes, heads, causal=False, steps=steps))


def _attention(
    inputs: Sequence[Tensor | None],
    shapes: Sequence[Sequence[int | torch.SymInt]],
    heads: int,
    *,
    causal: bool,
    steps: CacheSteps | None = None,
) -> Sequence[Tensor]:
    cache, rounding = torch.float32, _UNROUNDED
    if steps is not None:
        inputs = (*inputs, None, None, None, None, steps.sink, steps.key, steps.value)
        cache, rounding = torch.int8, _PER_CHANNEL
    return torch.onnx.ops.symbolic_multi_out(
        "com.microsoft::GroupQueryAttention",
        inputs,
        {"num_heads": heads, "kv_num_heads": heads, "causal": int(causal), **rounding},
        dtypes=(torch.float32, cache, cache)[: len(shapes)],
        shapes=shapes,
        version=1,
    )
