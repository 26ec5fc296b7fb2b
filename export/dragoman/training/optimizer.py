"""Adam, and Muon for the matrices, with state that is saved by parameter name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from dragoman.training.recipe import OptimizerSettings

# Jordan et al. 2024: a quintic whose iteration drives singular values towards 1.
_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrices: Tensor, steps: int, dtype: torch.dtype) -> Tensor:
    """Return the nearest semi-orthogonal matrices of [count, rows, columns] by Newton-Schulz."""
    a, b, c = _NEWTON_SCHULZ
    x = matrices.to(dtype)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    restored: Tensor = x.mT if tall else x
    return restored.to(matrices.dtype)


class Muon:
    """Momentum, orthogonalised matrix by matrix; matrices of one shape go through together.

    The update is scaled by 0.2 sqrt(max(rows, columns)), so that its root mean square matches
    Adam's and learning rates carry over (Liu et al. 2025).
    """

    def __init__(
        self, named: Iterable[tuple[str, nn.Parameter]], settings: OptimizerSettings
    ) -> None:
        self._settings = settings
        self._dtype = getattr(torch, settings.newton_schulz_dtype)
        groups: dict[torch.Size, list[tuple[str, nn.Parameter]]] = defaultdict(list)
        for name, parameter in named:
            groups[parameter.shape].append((name, parameter))
        self._groups = list(groups.values())
        self._momentum = [
            torch.zeros((len(group), *group[0][1].shape), device=group[0][1].device)
            for group in self._groups
        ]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Apply one update with learning rate `rate`."""
        beta = self._settings.momentum
        for group, momentum in zip(self._groups, self._momentum, strict=True):
            parameters: list[Tensor] = [parameter for _, parameter in group]
            gradient = torch.stack([_gradient(parameter) for _, parameter in group])
            momentum.lerp_(gradient, 1 - beta)
            nesterov = gradient.lerp_(momentum, beta)
            update = orthogonalise(nesterov, self._settings.newton_schulz_steps, self._dtype)
            scale = 0.2 * math.sqrt(max(update.shape[-2:]))
            torch._foreach_mul_(parameters, 1 - rate * self._settings.weight_decay)
            torch._foreach_add_(parameters, list(update.unbind()), alpha=-rate * scale)

    def state(self) -> dict[str, Tensor]:
        """Return the momentum of each parameter by name."""
        return {
            f"muon.momentum.{name}": momentum[place]
            for group, momentum in zip(self._groups, self._momentum, strict=True)
            for place, (name, _) in enumerate(group)
        }

    def load(self, state: dict[str, Tensor]) -> None:
        """Take the momentum of each parameter over; a missing name raises KeyError."""
        for name, momentum in self.state().items():
            momentum.copy_(state[name])


class Adam:
    """Adam (Kingma and Ba 2015; section 5.3) with decoupled weight decay on matrices."""

    def __init__(
        self, named: Iterable[tuple[str, nn.Parameter]], settings: OptimizerSettings
    ) -> None:
        self._named = list(named)
        matrices = [parameter for _, parameter in self._named if parameter.dim() > 1]
        vectors = [parameter for _, parameter in self._named if parameter.dim() <= 1]
        groups = [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        self._adam = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            betas=settings.betas,
            eps=settings.epsilon,
            fused=True,
        )

    def step(self, rate: float) -> None:
        """Apply one update with learning rate `rate`."""
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()

    def state(self) -> dict[str, Tensor]:
        """Return step count and both moments of each parameter by name."""
        return {
            f"adam.{key}.{name}": value
            for name, parameter in self._named
            for key, value in self._adam.state[parameter].items()
        }

    def load(self, state: dict[str, Tensor]) -> None:
        """Take the moments of each parameter over; a missing name raises KeyError."""
        for name, parameter in self._named:
            self._adam.state[parameter] = {
                key: state[f"adam.{key}.{name}"].to(device=parameter.device, copy=True)
                for key in ("step", "exp_avg", "exp_avg_sq")
            }


class Optimizer:
    """The optimizers of a recipe over one model, stepped together."""

    def __init__(self, model: nn.Module, settings: OptimizerSettings) -> None:
        self._settings = settings
        self._parameters = list(model.parameters())
        matrices, rest = _split(model, settings)
        self._muon = Muon(matrices, settings) if matrices else None
        self._adam = Adam(rest, settings)

    def step(self, factor: float) -> float:
        """Clip the gradients, step with both rates times `factor`; return the gradient's norm."""
        norm = nn.utils.clip_grad_norm_(self._parameters, self._settings.clip_norm)
        if self._muon is not None:
            self._muon.step(self._settings.matrix_learning_rate * factor)
        self._adam.step(self._settings.learning_rate * factor)
        return float(norm)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        """Return all state by parameter name."""
        muon = self._muon.state() if self._muon is not None else {}
        return {**muon, **self._adam.state()}

    def load(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        if self._muon is not None:
            self._muon.load(state)
        self._adam.load(state)


def _split(
    model: nn.Module, settings: OptimizerSettings
) -> tuple[list[tuple[str, nn.Parameter]], list[tuple[str, nn.Parameter]]]:
    """Muon takes the weights of linear layers; the embedding's rows are vectors of their own."""
    matrices: list[tuple[str, nn.Parameter]] = []
    rest: list[tuple[str, nn.Parameter]] = []
    for name, parameter in model.named_parameters():
        is_matrix = parameter.dim() == 2 and not name.startswith("embedding.")
        (matrices if is_matrix and settings.name == "muon" else rest).append((name, parameter))
    return matrices, rest


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
