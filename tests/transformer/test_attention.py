import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dragoman.transformer import MultiHeadAttention, padding_mask, scaled_dot_product_attention


def explicit_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ value


@given(
    batch=st.integers(1, 3),
    heads=st.integers(1, 4),
    queries=st.integers(1, 9),
    keys=st.integers(1, 9),
    seed=st.integers(0, 2**31),
)
@settings(deadline=None, max_examples=40)
def test_attention_equals_the_formula_of_the_paper(
    batch: int, heads: int, queries: int, keys: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (
        torch.randn(batch, heads, length, 8, generator=generator)
        for length in (queries, keys, keys)
    )
    mask = torch.rand(batch, 1, queries, keys, generator=generator) < 0.7
    mask[..., 0] = True
    result = scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(result, explicit_attention(query, key, value, mask))


def test_causal_attention_sees_no_later_position() -> None:
    query, key, value = (torch.randn(2, 2, 6, 8) for _ in range(3))
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    result = scaled_dot_product_attention(query, key, value, None, causal=True)
    torch.testing.assert_close(result, explicit_attention(query, key, value, mask))


def test_attention_by_hand() -> None:
    query = torch.tensor([[[[1.0, 0.0]]]])
    key = torch.tensor([[[[math.sqrt(2) * math.log(3), 0.0], [0.0, 0.0]]]])
    value = torch.tensor([[[[4.0], [8.0]]]])
    # Weights 3/4 and 1/4.
    result = scaled_dot_product_attention(query, key, value, None)
    torch.testing.assert_close(result, torch.tensor([[[[5.0]]]]))


def test_multi_head_attention_equals_torch() -> None:
    ours = MultiHeadAttention(32, 4)
    theirs = torch.nn.MultiheadAttention(32, 4, batch_first=True)
    with torch.no_grad():
        parts = (ours.query, ours.key, ours.value)
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias.normal_() for part in parts]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias.normal_())
    states, memory = torch.randn(3, 5, 32), torch.randn(3, 7, 32)
    lengths = torch.tensor([7, 1, 4])
    expected, _ = theirs(states, memory, memory, ~padding_mask(lengths, 7)[:, 0, 0])
    torch.testing.assert_close(ours(states, memory, padding_mask(lengths, 7)), expected)


def test_heads_are_split_and_joined_without_loss() -> None:
    attention = MultiHeadAttention(24, 3)
    states = torch.randn(2, 5, 24)
    heads = attention.split_heads(states)
    assert heads.shape == (2, 3, 5, 8)
    assert torch.equal(heads[:, 1], states[..., 8:16])
    assert torch.equal(attention.join_heads(heads), states)


def test_a_row_of_padding_only_is_refused() -> None:
    with pytest.raises(ValueError, match=r"source_lengths: rows \[1\] hold no token"):
        padding_mask(torch.tensor([3, 0]), 3)
