"""Named tensors as one safetensors file, or as shards of a given size with an index.

The layout is the usual one: `model-00001-of-00003.safetensors`, ..., and
`model.safetensors.index.json` with `metadata.total_size` in bytes and `weight_map` from a tensor's
name to its file. The index also holds each shard's SHA-256, so that no other shard passes for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman.training.errors import CheckpointError
from dragoman.training.tokenizer import file_sha256

_SUFFIX: Final = ".safetensors"


def write_tensors(
    tensors: dict[str, Tensor], folder: Path, stem: str, shard_bytes: int | None = None
) -> None:
    """Write tensors as `stem`.safetensors, or as shards where they take more than `shard_bytes`.

    Args:
        tensors: By name; of any device.
        folder: An existing directory.
        stem: What the files' names begin with.
        shard_bytes: The most bytes of tensors in a file; a larger tensor has a file of its own.
    """
    total = sum(tensor.nbytes for tensor in tensors.values())
    if shard_bytes is None or total <= shard_bytes:
        _save(tensors, list(tensors), folder / f"{stem}{_SUFFIX}")
        return
    groups = list(_groups(tensors, shard_bytes))
    digests, places = {}, {}
    for number, names in enumerate(groups, 1):
        file = f"{stem}-{number:05d}-of-{len(groups):05d}{_SUFFIX}"
        _save(tensors, names, folder / file)
        digests[file] = file_sha256(folder / file)
        places.update(dict.fromkeys(names, file))
    index = {"metadata": {"total_size": total, "sha256": digests}, "weight_map": places}
    _index(folder, stem).write_text(json.dumps(index, indent=2), encoding="utf-8")


def read_tensors(folder: Path, stem: str) -> dict[str, Tensor]:
    """Read what `write_tensors` wrote, in one file or in shards.

    Raises:
        CheckpointError: A file is missing, unreadable or not the one that was written, or a shard
            holds other tensors than the index says.
    """
    path = _index(folder, stem)
    if not path.exists():
        return _load(folder / f"{stem}{_SUFFIX}")
    places, digests = _read_index(path)
    tensors: dict[str, Tensor] = {}
    for file in sorted(set(places.values())):
        shard = folder / file
        if Path(file).name != file:
            raise CheckpointError(f"{path}: {file!r} is no name of a file beside it")
        if shard.exists() and file_sha256(shard) != digests.get(file):
            raise CheckpointError(f"{shard}: altered, or the shard of another checkpoint")
        found = _load(shard)
        listed = {name for name, place in places.items() if place == file}
        for name in sorted(listed ^ found.keys()):
            what = "not in it" if name in listed else "in it, but not in the index"
            raise CheckpointError(f"{shard}: {name} is {what}")
        tensors.update(found)
    return tensors


def has_tensors(folder: Path, stem: str) -> bool:
    """Whether a directory holds such tensors."""
    return any(path.exists() for path in (folder / f"{stem}{_SUFFIX}", _index(folder, stem)))


def _groups(tensors: dict[str, Tensor], shard_bytes: int) -> Iterator[list[str]]:
    """Fill each shard in the order of the tensors."""
    names: list[str] = []
    size = 0
    for name, tensor in tensors.items():
        if names and size + tensor.nbytes > shard_bytes:
            yield names
            names, size = [], 0
        names.append(name)
        size += tensor.nbytes
    if names:
        yield names


def _save(tensors: dict[str, Tensor], names: list[str], path: Path) -> None:
    save_file({name: tensors[name].detach().contiguous() for name in names}, path)


def _load(path: Path) -> dict[str, Tensor]:
    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: {error}") from error
    return tensors


def _read_index(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    try:
        index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        places = {str(name): str(file) for name, file in index["weight_map"].items()}
        digests = dict(index["metadata"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: no readable index ({error!r})") from error
    return places, digests


def _index(folder: Path, stem: str) -> Path:
    return folder / f"{stem}{_SUFFIX}.index.json"
