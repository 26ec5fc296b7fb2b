import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from typer.testing import CliRunner

from dragoman.training.averaging import average_checkpoints
from dragoman.training.checkpoint import load_model, load_state, save_checkpoint
from dragoman.training.errors import CheckpointError
from dragoman.transformer import Transformer


@pytest.fixture
def checkpoints(tiny_checkpoint: Path, tmp_path: Path) -> list[Path]:
    """Three moments of a run, each with other weights, the newest first."""
    return [
        moment(tiny_checkpoint, tmp_path / f"step-{step:08d}", step) for step in (300, 100, 200)
    ]


def moment(start: Path, path: Path, step: int, **config: Any) -> Path:
    model, tokenizer, facts = load_model(start)
    if config:
        model = Transformer(type(model.config).from_dict({**model.config.to_dict(), **config}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.rand_like(parameter), alpha=step)
    progress = {**facts["progress"], "step": step}
    state = {"adam.step": torch.tensor(1.0)}
    save_checkpoint(path, model, tokenizer, {**facts, "progress": progress}, state, 65_536)
    return path


def weights(path: Path) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in load_model(path)[0].named_parameters()}


def test_the_mean_is_right(checkpoints: list[Path], tmp_path: Path) -> None:
    assert average_checkpoints(checkpoints, tmp_path / "mean") == (100, 200, 300)
    found, parts = weights(tmp_path / "mean"), [weights(path) for path in checkpoints]
    for name, value in found.items():
        mean = torch.stack([part[name] for part in parts]).double().mean(dim=0)
        torch.testing.assert_close(value, mean.float(), rtol=0, atol=0)


def test_the_order_does_not_matter(checkpoints: list[Path], tmp_path: Path) -> None:
    average_checkpoints(checkpoints, tmp_path / "one")
    average_checkpoints(checkpoints[::-1], tmp_path / "other")
    one, other = weights(tmp_path / "one"), weights(tmp_path / "other")
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=1e-6, atol=1e-6)


def test_its_facts_are_those_of_the_last_step(checkpoints: list[Path], tmp_path: Path) -> None:
    average_checkpoints(checkpoints, tmp_path / "mean")
    facts = load_model(tmp_path / "mean")[2]
    assert facts["progress"]["step"] == 300
    assert facts["averaged_steps"] == [100, 200, 300]
    assert facts["dev"] is None
    assert "recipe" in facts


def test_nothing_resumes_from_a_mean(checkpoints: list[Path], tmp_path: Path) -> None:
    average_checkpoints(checkpoints, tmp_path / "mean")
    with pytest.raises(CheckpointError, match="holds no state of an optimizer"):
        load_state(tmp_path / "mean")


def test_another_shape_is_refused(checkpoints: list[Path], tmp_path: Path) -> None:
    odd = moment(checkpoints[0], tmp_path / "odd", 400, feed_forward=64)
    with pytest.raises(CheckpointError, match="odd: feed_forward is 64, 128 in the first"):
        average_checkpoints([*checkpoints, odd], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_another_tokenizer_is_refused(checkpoints: list[Path], tmp_path: Path) -> None:
    model, tokenizer, facts = load_model(checkpoints[1])
    other = tmp_path / "other.model"
    other.write_bytes(tokenizer.read_bytes() + b"\0")
    save_checkpoint(tmp_path / "odd", model, other, {**facts, "progress": {"step": 7}})
    with pytest.raises(CheckpointError, match="odd: another tokenizer"):
        average_checkpoints([checkpoints[0], tmp_path / "odd"], tmp_path / "mean")


def test_a_step_counts_once(checkpoints: list[Path], tmp_path: Path) -> None:
    again = shutil.copytree(checkpoints[0], tmp_path / "again")
    with pytest.raises(CheckpointError, match="again: step 300 is among the others already"):
        average_checkpoints([*checkpoints, Path(again)], tmp_path / "mean")


def invoke(*paths: Path) -> tuple[int, str]:
    from dragoman.training.cli import average

    app = typer.Typer()
    app.command()(average)
    result = CliRunner().invoke(app, [str(path) for path in paths])
    return result.exit_code, " ".join(result.output.split())


def test_the_command(checkpoints: list[Path], tmp_path: Path) -> None:
    code, text = invoke(*checkpoints, tmp_path / "mean")
    assert (code, text) == (0, f"wrote {tmp_path / 'mean'}: the mean of steps 100, 200, 300")


def test_the_command_writes_over_nothing(checkpoints: list[Path], tmp_path: Path) -> None:
    code, text = invoke(*checkpoints)
    assert code == 1
    assert text.startswith(f"dragoman average: {checkpoints[-1]}: is there already")
    code, text = invoke(checkpoints[0], tmp_path / "mean")
    assert text == "dragoman average: 1 checkpoint: a mean takes two or more"
    assert code == 1
