import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from dragoman.training.checkpoint import (
    latest_checkpoint,
    load_model,
    load_state,
    prune_checkpoints,
    save_checkpoint,
)
from dragoman.training.errors import CheckpointError


@pytest.fixture
def copy(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "copy"))


def test_a_checkpoint_round_trips(tiny_checkpoint: Path, tmp_path: Path) -> None:
    model, tokenizer, facts = load_model(tiny_checkpoint)
    save_checkpoint(tmp_path / "again", model, tokenizer, facts)
    other, _, same_facts = load_model(tmp_path / "again")
    assert facts == same_facts
    assert not model.training
    for (name, ours), (same, theirs) in zip(
        model.named_parameters(), other.named_parameters(), strict=True
    ):
        assert name == same
        assert torch.equal(ours, theirs)


def test_shards_of_a_checkpoint_round_trip(tiny_checkpoint: Path, tmp_path: Path) -> None:
    model, tokenizer, facts = load_model(tiny_checkpoint)
    state = {f"adam.exp_avg.{name}": p.detach() for name, p in model.named_parameters()}
    save_checkpoint(tmp_path / "sharded", model, tokenizer, facts, state, 100_000)
    assert len(list((tmp_path / "sharded").glob("model-*-of-*.safetensors"))) > 2
    assert len(list((tmp_path / "sharded").glob("state-*-of-*.safetensors"))) > 2
    other, _, _ = load_model(tmp_path / "sharded")
    found, progress = load_state(tmp_path / "sharded")
    assert progress.step == facts["progress"]["step"]
    for name, parameter in other.named_parameters():
        assert torch.equal(parameter, dict(model.named_parameters())[name])
        assert torch.equal(parameter, found[f"adam.exp_avg.{name}"])


def test_a_missing_shard_is_named(tiny_checkpoint: Path, tmp_path: Path) -> None:
    model, tokenizer, facts = load_model(tiny_checkpoint)
    save_checkpoint(tmp_path / "sharded", model, tokenizer, facts, None, 100_000)
    shard = sorted((tmp_path / "sharded").glob("model-*"))[1]
    shard.unlink()
    with pytest.raises(CheckpointError, match=shard.name):
        load_model(tmp_path / "sharded")


def test_without_state_nothing_resumes(tiny_checkpoint: Path) -> None:
    with pytest.raises(CheckpointError, match="checkpoint: holds no state of an optimizer"):
        load_state(tiny_checkpoint)


def test_a_tied_matrix_is_stored_once(tiny_checkpoint: Path) -> None:
    shapes = [tuple(t.shape) for t in load_file(tiny_checkpoint / "model.safetensors").values()]
    assert shapes.count((400, 64)) == 1


@pytest.mark.parametrize("change", ["remove", "add", "reshape"])
def test_a_wrong_tensor_is_refused_by_name(copy: Path, change: str) -> None:
    tensors = load_file(copy / "model.safetensors")
    name = "decoder.layers.0.feed_forward.expand.weight"
    if change == "remove":
        del tensors[name]
    elif change == "add":
        tensors["head.weight"] = torch.zeros(3)
    else:
        tensors[name] = torch.zeros(3, 64)
    save_file(tensors, copy / "model.safetensors")
    message = {
        "remove": f"{name}: is missing",
        "add": "head.weight: belongs to no part",
        "reshape": rf"{name}: shape \(3, 64\), the model needs \(128, 64\)",
    }
    with pytest.raises(CheckpointError, match=message[change]):
        load_model(copy)


def test_another_tokenizer_is_refused(copy: Path) -> None:
    (copy / "tokenizer.model").write_bytes(b"other")
    with pytest.raises(CheckpointError, match="not the tokenizer of this checkpoint"):
        load_model(copy)


@pytest.mark.parametrize("name", ["model.safetensors", "checkpoint.json", "tokenizer.model"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_model(copy)


def test_another_format_version_is_refused(copy: Path) -> None:
    path = copy / "checkpoint.json"
    content = {**json.loads(path.read_text(encoding="utf-8")), "format_version": 7}
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CheckpointError, match="format version 7, this program reads 1"):
        load_model(copy)


def test_saving_over_an_older_checkpoint_leaves_no_rest(copy: Path) -> None:
    model, tokenizer, _ = load_model(copy)
    save_checkpoint(copy, model, tokenizer, {"fresh": True})
    assert load_model(copy)[2] == {"fresh": True}
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def test_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    for step in (100, 900, 1000):
        folder = tmp_path / f"step-{step:08d}"
        folder.mkdir()
        (folder / "checkpoint.json").touch()
    prune_checkpoints(tmp_path, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-00000900", "step-00001000"]
    newest = latest_checkpoint(tmp_path)
    assert newest is not None
    assert newest.name == "step-00001000"
