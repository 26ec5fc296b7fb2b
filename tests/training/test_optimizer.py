import math

import pytest
import torch
from torch import nn

from dragoman.training.optimizer import Muon, Optimizer, orthogonalise
from dragoman.training.recipe import OptimizerSettings
from dragoman.training.schedule import rate_factor
from dragoman.transformer import Transformer, TransformerConfig


@pytest.mark.parametrize("shape", [(2, 16, 16), (3, 8, 32), (1, 32, 8)])
def test_newton_schulz_brings_singular_values_near_one(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonalise(torch.randn(shape), 5, torch.float32))
    assert values.min() > 0.3
    assert values.max() < 1.3


def test_newton_schulz_keeps_the_singular_vectors() -> None:
    torch.manual_seed(0)
    matrix = torch.randn(1, 8, 8)
    left, _, right = torch.linalg.svd(matrix)
    core = left.mT @ orthogonalise(matrix, 5, torch.float32) @ right.mT
    off_diagonal = core - torch.diag_embed(core.diagonal(dim1=1, dim2=2))
    assert off_diagonal.abs().max() < 1e-4


def test_muon_moves_each_matrix_as_if_it_were_alone() -> None:
    settings = OptimizerSettings()
    together = [nn.Parameter(torch.zeros(8, 4)) for _ in range(3)]
    gradients = [torch.randn(8, 4) for _ in together]
    for parameter, gradient in zip(together, gradients, strict=True):
        parameter.grad = gradient.clone()
    Muon([(str(i), p) for i, p in enumerate(together)], settings).step(0.1)
    for parameter, gradient in zip(together, gradients, strict=True):
        single = nn.Parameter(torch.zeros(8, 4))
        single.grad = gradient.clone()
        Muon([("x", single)], settings).step(0.1)
        torch.testing.assert_close(parameter, single)


def test_muon_updates_are_as_large_as_adams() -> None:
    parameter = nn.Parameter(torch.zeros(64, 64))
    parameter.grad = torch.randn(64, 64)
    Muon([("x", parameter)], OptimizerSettings()).step(1.0)
    assert float(parameter.detach().square().mean().sqrt()) == pytest.approx(0.2, rel=0.15)


def test_adam_is_torchs_adam() -> None:
    torch.manual_seed(0)
    ours, theirs = nn.Linear(4, 3), nn.Linear(4, 3)
    theirs.load_state_dict(ours.state_dict())
    settings = OptimizerSettings(name="adam", learning_rate=0.01, clip_norm=1e9)
    optimizer = Optimizer(ours, settings)
    reference = torch.optim.Adam(theirs.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    for _ in range(3):
        x = torch.randn(5, 4)
        for layer in (ours, theirs):
            layer.zero_grad()
            layer(x).square().sum().backward()
        optimizer.step(1.0)
        reference.step()
    torch.testing.assert_close(ours.weight, theirs.weight)


def test_muon_takes_the_matrices_and_adam_the_rest() -> None:
    model = Transformer(TransformerConfig.preset("tiny"))
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer = Optimizer(model, OptimizerSettings())
    optimizer.step(1.0)
    names = set(optimizer.state())
    assert "muon.momentum.encoder.layers.0.self_attention.query.weight" in names
    assert "adam.exp_avg.embedding.weight" in names
    assert "adam.exp_avg_sq.decoder.norm.bias" in names
    matrices = [n for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n]
    assert {n for n in names if n.startswith("muon")} == {f"muon.momentum.{n}" for n in matrices}


def test_gradients_are_clipped_to_the_norm() -> None:
    layer = nn.Linear(3, 3, bias=False)
    layer.weight.grad = torch.full((3, 3), 10.0)
    norm = Optimizer(layer, OptimizerSettings(name="adam", clip_norm=0.5)).step(1.0)
    assert norm == pytest.approx(30.0)
    assert float(layer.weight.grad.norm()) == pytest.approx(0.5, rel=1e-4)


def test_stable_schedule_warms_up_holds_and_decays() -> None:
    settings = OptimizerSettings(warmup_steps=10, decay_steps=20, final_fraction=0.1)
    factors = [rate_factor(step, 100, settings) for step in range(1, 101)]
    assert factors[0] == pytest.approx(0.1)
    assert factors[9:80] == [1.0] * 71
    assert factors[89] == pytest.approx(0.1 + 0.9 * 0.5)
    assert factors[-1] == pytest.approx(0.1)


def test_inverse_square_root_schedule_is_the_papers() -> None:
    settings = OptimizerSettings(schedule="inverse-sqrt", warmup_steps=4000)
    assert rate_factor(2000, 10**6, settings) == pytest.approx(0.5)
    assert rate_factor(4000, 10**6, settings) == pytest.approx(1.0)
    assert rate_factor(16000, 10**6, settings) == pytest.approx(math.sqrt(4000 / 16000))
