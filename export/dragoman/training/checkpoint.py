"""Checkpoints: a directory of safetensors and JSON, written whole or not at all."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from dragoman.training.errors import CheckpointError
from dragoman.training.shards import has_tensors, read_tensors, write_tensors
from dragoman.training.tokenizer import file_sha256
from dragoman.transformer import Transformer, TransformerConfig

FORMAT_VERSION = 1
_MODEL, _STATE, _FACTS, _TOKENIZER = "model", "state", "checkpoint.json", "tokenizer.model"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: updates done, place in the data, real target tokens seen, hours spent."""

    step: int = 0
    epoch: int = 0
    index: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    best_chrf: float = -1.0


def save_checkpoint(
    path: Path,
    model: Transformer,
    tokenizer: Path,
    facts: dict[str, Any],
    state: dict[str, Tensor] | None = None,
    shard_bytes: int | None = None,
) -> None:
    """Write a checkpoint directory; an older one of the same name is replaced at the end.

    Args:
        path: The directory to make.
        model: Its parameters are stored by name; a tied matrix once.
        tokenizer: The SentencePiece model, copied in and named by its SHA-256.
        facts: Anything in JSON; `load_model` returns it.
        state: Optimizer and generator state; left out where nobody will resume.
        shard_bytes: The most bytes of a file of tensors, as in `write_tensors`.
    """
    partial = path.with_name(path.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    write_tensors(dict(model.named_parameters()), partial, _MODEL, shard_bytes)
    if state is not None:
        write_tensors(state, partial, _STATE, shard_bytes)
    shutil.copyfile(tokenizer, partial / _TOKENIZER)
    content = {
        "format_version": FORMAT_VERSION,
        "config": model.config.to_dict(),
        "tokenizer_sha256": file_sha256(tokenizer),
        "facts": facts,
    }
    (partial / _FACTS).write_text(json.dumps(content, indent=2), encoding="utf-8")
    _replace(partial, path)


def load_model(path: Path) -> tuple[Transformer, Path, dict[str, Any]]:
    """Load (model in evaluation mode, its tokenizer file, facts) from a checkpoint directory.

    Raises:
        CheckpointError: A file is missing or altered, or a tensor is missing, unknown or misshapen.
    """
    content = read_content(path)
    tokenizer = path / _TOKENIZER
    if not tokenizer.exists() or file_sha256(tokenizer) != content["tokenizer_sha256"]:
        raise CheckpointError(f"{tokenizer}: missing, or not the tokenizer of this checkpoint")
    model = Transformer(TransformerConfig.from_dict(content["config"]))
    load_parameters(model, read_tensors(path, _MODEL))
    return model.eval(), tokenizer, content["facts"]


def load_parameters(model: Transformer, tensors: dict[str, Tensor]) -> None:
    """Copy tensors into the model by name, every one of them and no other.

    Raises:
        CheckpointError: A tensor is missing, unknown or of another shape.
    """
    expected = dict(model.named_parameters())
    for name in sorted(expected.keys() ^ tensors.keys()):
        what = "is missing" if name in expected else "belongs to no part of the model"
        raise CheckpointError(f"{name}: {what}")
    for name, parameter in expected.items():
        if parameter.shape != tensors[name].shape:
            shapes = f"{tuple(tensors[name].shape)}, the model needs {tuple(parameter.shape)}"
            raise CheckpointError(f"{name}: shape {shapes}")
        parameter.data.copy_(tensors[name])


def load_state(path: Path) -> tuple[dict[str, Tensor], Progress]:
    """Load optimizer state and progress, to resume from a checkpoint directory.

    Raises:
        CheckpointError: It holds no such state, or a file is missing or altered.
    """
    content = read_content(path)
    if not has_tensors(path, _STATE):
        raise CheckpointError(f"{path}: holds no state of an optimizer, nothing can resume from it")
    return read_tensors(path, _STATE), Progress(**content["facts"]["progress"])


def progress_facts(progress: Progress) -> dict[str, Any]:
    """Return progress as plain values for a checkpoint's facts."""
    return asdict(progress)


def latest_checkpoint(folder: Path) -> Path | None:
    """Return the newest `step-*` directory of a run, if there is one."""
    found = sorted(path for path in folder.glob("step-*") if (path / _FACTS).exists())
    return found[-1] if found else None


def prune_checkpoints(folder: Path, kept: int) -> None:
    """Delete all but the newest `kept` checkpoints of a run."""
    found = sorted(path for path in folder.glob("step-*") if not path.name.endswith(".part"))
    for path in found[:-kept]:
        shutil.rmtree(path)


def read_content(path: Path) -> dict[str, Any]:
    """Return what a checkpoint says of itself: config, tokenizer_sha256, facts.

    Raises:
        CheckpointError: It cannot be read, or is of another format version.
    """
    try:
        content: dict[str, Any] = json.loads((path / _FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: no readable {_FACTS} ({error})") from error
    if content.get("format_version") != FORMAT_VERSION:
        found = content.get("format_version")
        raise CheckpointError(
            f"{path}: format version {found}, this program reads {FORMAT_VERSION}"
        )
    return content


def _replace(partial: Path, path: Path) -> None:
    """Put `partial` in the place of `path`; at any moment one of the two is complete."""
    old = path.with_name(path.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if path.exists():
        path.rename(old)
    partial.rename(path)
    shutil.rmtree(old, ignore_errors=True)
