import math

import pytest
import torch
from torch import nn

from dragoman.transformer import FeedForward, Residual, TokenEmbedding
from dragoman.transformer.config import Norm


def test_embedding_is_scaled_and_projection_is_not() -> None:
    embedding = TokenEmbedding(11, 16, pad_id=0)
    ids = torch.tensor([[3, 7]])
    torch.testing.assert_close(embedding(ids)[0, 1], embedding.weight[7] * math.sqrt(16))
    hidden = torch.randn(2, 16)
    torch.testing.assert_close(embedding.project(hidden), hidden @ embedding.weight.T)


def test_feed_forward_is_two_products_round_a_relu() -> None:
    layer = FeedForward(4, 6)
    x = torch.randn(2, 3, 4)
    inner = (x @ layer.expand.weight.T + layer.expand.bias).clamp(min=0)
    torch.testing.assert_close(layer(x), inner @ layer.contract.weight.T + layer.contract.bias)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_residual_places_the_norm(norm: Norm) -> None:
    layer_norm = nn.LayerNorm(4)
    x = torch.randn(1, 2, 4)
    result = Residual(norm, dropout=0.0)(x, layer_norm, lambda states: states * 3)
    expected = x + layer_norm(x) * 3 if norm == "pre" else layer_norm(x + x * 3)
    torch.testing.assert_close(result, expected)


def test_dropout_acts_on_the_sublayer_in_training_only() -> None:
    residual = Residual("pre", dropout=0.5)
    norm, x = nn.LayerNorm(64), torch.randn(1, 8, 64)
    torch.manual_seed(0)
    dropped = residual(x, norm, torch.ones_like)
    assert set(torch.unique((dropped - x).round()).tolist()) == {0.0, 2.0}
    residual.eval()
    torch.testing.assert_close(residual(x, norm, torch.ones_like), x + 1)
