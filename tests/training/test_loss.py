import math

import pytest
import torch
from torch.nn import functional

from dragoman.training.loss import smoothed_cross_entropy


def test_without_smoothing_it_is_cross_entropy() -> None:
    logits, targets = torch.randn(3, 5, 11), torch.randint(1, 11, (3, 5))
    targets[1, 3:] = 0
    expected = functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=0, reduction="mean"
    )
    torch.testing.assert_close(smoothed_cross_entropy(logits, targets, 0, 0.0), expected)


def test_smoothing_by_hand() -> None:
    # Uniform prediction over 4 tokens: every target distribution costs log 4.
    logits = torch.zeros(1, 1, 4)
    loss = smoothed_cross_entropy(logits, torch.tensor([[2]]), 0, 0.1)
    assert float(loss) == pytest.approx(math.log(4))
    # One certain token: 0.9 + 0.1 / 4 of the mass costs nothing, the rest costs 10 nats each.
    logits = torch.tensor([[[0.0, 0.0, 10.0, 0.0]]])
    expected = 0.075 * 10 + math.log(1 + 3 * math.exp(-10))
    loss = smoothed_cross_entropy(logits, torch.tensor([[2]]), 0, 0.1)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_padding_changes_neither_loss_nor_gradient(smoothing: float) -> None:
    results = []
    values, targets = torch.randn(2, 10, 7), torch.randint(1, 7, (2, 10))
    for width in (10, 60):
        logits = functional.pad(values, (0, 0, 0, width - 10)).requires_grad_()
        padded = functional.pad(targets, (0, width - 10), value=0)
        loss = smoothed_cross_entropy(logits, padded, 0, smoothing)
        loss.backward()  # type: ignore[no-untyped-call]
        assert logits.grad is not None
        results.append((loss.detach(), logits.grad[:, :10]))
        assert not logits.grad[:, 10:].any()
    torch.testing.assert_close(results[0], results[1])
