"""The mean of several checkpoints of one run, often better than the last of them.

A run with a constant rate walks around a minimum; the mean of its last checkpoints lies nearer to
it (Vaswani et al. 2017, section 6.1, average the last 5 or 20).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dragoman.training.checkpoint import load_model, save_checkpoint
from dragoman.training.errors import CheckpointError
from dragoman.training.tokenizer import file_sha256
from dragoman.transformer import Transformer


def average_checkpoints(paths: Sequence[Path], output: Path) -> tuple[int, ...]:
    """Write the mean of the weights of checkpoints as a new one, without optimizer state.

    Its facts are those of the checkpoint with the most updates, but for the dev figures, which
    nobody has measured yet, and with "averaged_steps".

    Args:
        paths: Two checkpoints or more of one shape and one tokenizer, each at another step.
        output: The directory to make.

    Returns:
        The steps, in order.

    Raises:
        CheckpointError: They do not belong together, one of them is incomplete or altered, or
            there is something at `output` already.
    """
    if len(paths) < 2:
        raise CheckpointError(f"{len(paths)} checkpoint: a mean takes two or more")
    if output.exists():
        raise CheckpointError(f"{output}: is there already; name a new directory for the mean")
    model, tokenizer, latest = load_model(paths[0])
    digest, steps = file_sha256(tokenizer), {_step(latest)}
    sums = {name: value.detach().double() for name, value in model.named_parameters()}
    for path in paths[1:]:
        other, other_tokenizer, facts = load_model(path)
        _require_kinship(path, other, model, file_sha256(other_tokenizer) == digest)
        if _step(facts) in steps:
            raise CheckpointError(f"{path}: step {_step(facts)} is among the others already")
        if _step(facts) > max(steps):
            latest = facts
        steps.add(_step(facts))
        _add(sums, other)
    _take_mean(model, sums, len(paths))
    ordered = tuple(sorted(steps))
    save_checkpoint(output, model, tokenizer, {**latest, "dev": None, "averaged_steps": ordered})
    return ordered


def _require_kinship(path: Path, other: Transformer, first: Transformer, same: bool) -> None:
    ours, theirs = first.config.to_dict(), other.config.to_dict()
    for name, value in ours.items():
        if theirs[name] != value:
            raise CheckpointError(f"{path}: {name} is {theirs[name]!r}, {value!r} in the first")
    if not same:
        raise CheckpointError(f"{path}: another tokenizer than that of the first checkpoint")


def _add(sums: dict[str, Tensor], model: Transformer) -> None:
    for name, value in model.named_parameters():
        sums[name] += value.detach()


@torch.no_grad()
def _take_mean(model: Transformer, sums: dict[str, Tensor], count: int) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(sums[name] / count)


def _step(facts: dict[str, Any]) -> int:
    return int(facts["progress"]["step"])
