"""Learning-rate schedules, as a factor of the peak rate."""

from __future__ import annotations

import math

from dragoman.training.recipe import OptimizerSettings


def rate_factor(step: int, steps: int, settings: OptimizerSettings) -> float:
    """Return the factor for update number `step` (1-based) of `steps`.

    Linear warm-up, then constant ("stable") or falling with 1 / sqrt(step) ("inverse-sqrt",
    section 5.3 of the paper); over the last `decay_steps` a cosine leads to `final_fraction`.
    """
    return _base(step, settings) * _decay(step, steps, settings)


def _base(step: int, settings: OptimizerSettings) -> float:
    warmup = settings.warmup_steps
    if step < warmup:
        return step / warmup
    if settings.schedule == "inverse-sqrt":
        return math.sqrt(max(warmup, 1) / max(step, 1))
    return 1.0


def _decay(step: int, steps: int, settings: OptimizerSettings) -> float:
    begun = step - (steps - settings.decay_steps)
    if settings.decay_steps == 0 or begun <= 0:
        return 1.0
    progress = min(1.0, begun / settings.decay_steps)
    cosine = 0.5 * (1 + math.cos(math.pi * progress))
    return settings.final_fraction + (1 - settings.final_fraction) * cosine
