import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman.training.errors import CheckpointError
from dragoman.training.shards import has_tensors, read_tensors, write_tensors

TENSORS: dict[str, Tensor] = {
    "a": torch.arange(6.0),
    "b": torch.ones(2, 3),
    "c": torch.zeros(40),
    "d": torch.arange(5, dtype=torch.uint8),
}
INDEX = "model.safetensors.index.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tensors(TENSORS, tmp_path, "model", 40)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> bool:
    return found.keys() == expected.keys() and all(
        torch.equal(found[name], tensor) and found[name].dtype == tensor.dtype
        for name, tensor in expected.items()
    )


def test_shards_have_the_usual_names_and_index(folder: Path) -> None:
    files = [f"model-0000{number}-of-00004.safetensors" for number in (1, 2, 3, 4)]
    assert names(folder) == [*files, INDEX]
    index = json.loads((folder / INDEX).read_text())
    assert index["metadata"]["total_size"] == 24 + 24 + 160 + 5
    assert index["weight_map"] == dict(zip(TENSORS, files, strict=True))
    assert same(read_tensors(folder, "model"), TENSORS)


def test_a_shard_takes_as_many_tensors_as_fit(tmp_path: Path) -> None:
    write_tensors(TENSORS, tmp_path, "model", 48)
    shards = sorted(tmp_path.glob("*.safetensors"))
    assert [list(load_file(shard)) for shard in shards] == [["a", "b"], ["c"], ["d"]]


@pytest.mark.parametrize("size", [None, 213, 10_000])
def test_what_fits_into_one_file_is_one_file(tmp_path: Path, size: int | None) -> None:
    write_tensors(TENSORS, tmp_path, "model", size)
    assert names(tmp_path) == ["model.safetensors"]
    assert same(read_tensors(tmp_path, "model"), TENSORS)


@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=12), limit=st.integers(1, 200))
@settings(deadline=None, max_examples=30)
def test_any_shards_round_trip(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], limit: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    tensors = {f"t{place}": torch.rand(size) for place, size in enumerate(sizes)}
    write_tensors(tensors, folder, "model", limit)
    assert same(read_tensors(folder, "model"), tensors)
    for shard in folder.glob("model-*"):
        held = load_file(shard)
        assert len(held) == 1 or sum(tensor.nbytes for tensor in held.values()) <= limit


def remove(folder: Path) -> None:
    (folder / "model-00002-of-00004.safetensors").unlink()


def cut(folder: Path) -> None:
    path = folder / "model-00002-of-00004.safetensors"
    path.write_bytes(path.read_bytes()[:-4])


def swap(folder: Path) -> None:
    """Another checkpoint's shard of the same shape."""
    save_file({"b": torch.zeros(2, 3)}, folder / "model-00002-of-00004.safetensors")


def change_index(folder: Path, change: Callable[[Any], object]) -> None:
    index = json.loads((folder / INDEX).read_text())
    change(index)
    (folder / INDEX).write_text(json.dumps(index))


def drop_from_index(folder: Path) -> None:
    shard = "model-00001-of-00004.safetensors"
    change_index(folder, lambda index: index["weight_map"].update({"b": shard}))


def lead_outside(folder: Path) -> None:
    change_index(folder, lambda index: index["weight_map"].update({"b": "../other.safetensors"}))


def forget_digests(folder: Path) -> None:
    change_index(folder, lambda index: index["metadata"].pop("sha256"))


def break_index(folder: Path) -> None:
    (folder / INDEX).write_text("{")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove, "model-00002-of-00004.safetensors"),
        (cut, "model-00002-of-00004.safetensors: altered, or the shard of another"),
        (swap, "model-00002-of-00004.safetensors: altered, or the shard of another"),
        (drop_from_index, "model-00001-of-00004.safetensors: b is not in it"),
        (lead_outside, r"'\.\./other\.safetensors' is no name of a file beside it"),
        (forget_digests, r"index\.json: no readable index"),
        (break_index, r"index\.json: no readable index"),
    ],
)
def test_damage_is_named(folder: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(folder)
    with pytest.raises(CheckpointError, match=message):
        read_tensors(folder, "model")


def test_a_tensor_that_the_index_does_not_tell_of(folder: Path) -> None:
    change_index(folder, lambda index: index["weight_map"].pop("b"))
    write = {"c": TENSORS["c"], "x": torch.ones(1)}
    shard = folder / "model-00003-of-00004.safetensors"
    save_file(write, shard)
    from dragoman.training.tokenizer import file_sha256

    digest = file_sha256(shard)
    change_index(folder, lambda index: index["metadata"]["sha256"].update({shard.name: digest}))
    with pytest.raises(CheckpointError, match="x is in it, but not in the index"):
        read_tensors(folder, "model")


def test_nothing_is_found_where_nothing_is(folder: Path) -> None:
    assert has_tensors(folder, "model")
    assert not has_tensors(folder, "state")
    with pytest.raises(CheckpointError, match=r"state\.safetensors"):
        read_tensors(folder, "state")
