"""How large the inputs of each product get on real text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn

from dragoman.transformer import DecoderLayer, Transformer

# Values kept of each input and sentence, and the shares of the largest value tried as the limit.
_SAMPLED_VALUES = 512
_SHARES = torch.linspace(0.3, 1.0, 36)
_STEPS = 127

# Room above the largest key or value that was seen. On dev text, root mean square difference of a
# token's log-probability that caches of int8 make, `small` trained: 0.022 with no room (once in a
# while something far larger comes), 0.016 with 1.1, 0.018 with 1.25; 0.040 with the 99.9th
# percentile as the limit, 0.019 with the limit of the least squared error.
_CACHE_ROOM = 1.15
_SMALLEST_SHARE, _SMALLEST = 1e-3, 1e-9


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


@torch.no_grad()
def measure_cache_steps(
    model: Transformer, sentences: Iterable[Sentence]
) -> dict[nn.Linear, Tensor]:
    """Run the model over sentences and choose the steps of int8 keys and values.

    Returns:
        For each map to keys or values in the decoder the size of a step of each of its channels,
        float32 [d_model].
    """
    layers = [cast(DecoderLayer, layer) for layer in model.decoder.layers]
    attentions = [each for x in layers for each in (x.self_attention, x.cross_attention)]
    maps = [linear for each in attentions for linear in (each.key, each.value)]
    largest = {linear: torch.zeros(linear.out_features) for linear in maps}

    def see(module: nn.Module, states: Tensor) -> None:
        if isinstance(module, nn.Linear) and module in largest:
            found = nn.functional.linear(states, module.weight, module.bias)
            peaks = found.abs().flatten(0, -2).amax(0)
            largest[module] = torch.maximum(largest[module], peaks)

    watching_inputs(model, sentences, see)
    return {linear: _lifted(peaks) * (_CACHE_ROOM / _STEPS) for linear, peaks in largest.items()}


def _lifted(peaks: Tensor) -> Tensor:
    """Let channels that are hardly ever used have steps of some size too."""
    return peaks.clamp(min=max(float(peaks.max()) * _SMALLEST_SHARE, _SMALLEST))


def _squared_error(values: Tensor, limit: Tensor) -> Tensor:
    step = limit / _STEPS
    rounded = (values / step).round().clamp(max=_STEPS) * step
    return (rounded - values).square().mean()
