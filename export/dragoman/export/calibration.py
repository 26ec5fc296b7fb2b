"""How large the inputs of each product get on real text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from dragoman.transformer import Transformer

# Values kept of each input and sentence, and the shares of the largest value tried as the limit.
_SAMPLED_VALUES = 512
_SHARES = torch.linspace(0.3, 1.0, 36)
_STEPS = 127


@dataclass(frozen=True, slots=True)
class Sentence:
    """A source with its EOS and a target with its BOS, as token ids."""

    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]


@dataclass(slots=True)
class _Observed:
    largest: float = 0.0
    samples: list[Tensor] = field(default_factory=list)

    def see(self, values: Tensor) -> None:
        magnitudes = values.detach().abs().flatten()
        self.largest = max(self.largest, float(magnitudes.max()))
        stride = max(1, magnitudes.numel() // _SAMPLED_VALUES)
        self.samples.append(magnitudes[stride // 2 :: stride].clone())

    def best_limit(self) -> float:
        """Return the limit with the least squared error of rounding and saturating."""
        values = torch.cat(self.samples)
        limits = (_SHARES * self.largest).clamp(min=torch.finfo(torch.float32).tiny)
        errors = [_squared_error(values, limit) for limit in limits]
        return float(limits[torch.stack(errors).argmin()])


@torch.no_grad()
def measure_ranges(model: Transformer, sentences: Iterable[Sentence]) -> dict[nn.Module, float]:
    """Run the model over sentences and choose the limits that `IntegerArithmetic` asks for.

    Sentences go through one by one, so that padding has no part in it.
    """
    with _observing(model) as observed:
        for sentence in sentences:
            source = torch.tensor([sentence.source_ids])
            target = torch.tensor([sentence.target_ids])
            model(source, torch.tensor([source.shape[1]]), target)
    return {module: each.best_limit() for module, each in observed.items()}


@contextmanager
def _observing(model: Transformer) -> Iterator[dict[nn.Module, _Observed]]:
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    observed: dict[nn.Module, _Observed] = {m: _Observed() for m in (*linears, model.embedding)}

    def see_input(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        observed[module].see(inputs[0])

    def see_hidden(_: nn.Module, __: object, hidden: Tensor) -> None:
        observed[model.embedding].see(hidden)

    hooks = [linear.register_forward_pre_hook(see_input) for linear in linears]
    hooks.append(model.decoder.register_forward_hook(see_hidden))
    try:
        yield observed
    finally:
        for hook in hooks:
            hook.remove()


def _squared_error(values: Tensor, limit: Tensor) -> Tensor:
    step = limit / _STEPS
    rounded = (values / step).round().clamp(max=_STEPS) * step
    return (rounded - values).square().mean()
