"""How large the inputs of each product get on real text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
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


def measure_ranges(model: Transformer, sentences: Iterable[Sentence]) -> dict[nn.Module, float]:
    """Run the model over sentences and choose the limits that `IntegerArithmetic` asks for."""
    observed: dict[nn.Module, _Observed] = defaultdict(_Observed)
    watching_inputs(model, sentences, lambda module, states: observed[module].see(states))
    return {module: each.best_limit() for module, each in observed.items()}


@torch.no_grad()
def watching_inputs(
    model: Transformer,
    sentences: Iterable[Sentence],
    see: Callable[[nn.Module, Tensor], None],
) -> None:
    """Run the model over sentences and show the input of every product.

    Sentences go through one by one, so that padding has no part in it.

    Args:
        model: in evaluation mode.
        sentences: what it reads.
        see: called with a linear map, or the embedding for the output projection, and what it is
            about to multiply, [1, length, in].
    """
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    hooks = [
        each.register_forward_pre_hook(lambda m, inputs: see(m, inputs[0])) for each in linears
    ]
    hooks.append(model.decoder.register_forward_hook(lambda _, __, h: see(model.embedding, h)))
    try:
        for sentence in sentences:
            source, target = (torch.tensor([i]) for i in (sentence.source_ids, sentence.target_ids))
            model(source, torch.tensor([source.shape[1]]), target)
    finally:
        for hook in hooks:
            hook.remove()


def _squared_error(values: Tensor, limit: Tensor) -> Tensor:
    step = limit / _STEPS
    rounded = (values / step).round().clamp(max=_STEPS) * step
    return (rounded - values).square().mean()
