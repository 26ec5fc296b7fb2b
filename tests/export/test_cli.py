"""`dragoman export` from end to end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest
import safetensors.torch
import torch
import typer
from typer.testing import CliRunner, Result

from dragoman.engine import Bundle, Engine
from dragoman.engine.bundle import WEIGHTS
from dragoman.export import export as exporting
from dragoman.export.cli import export
from dragoman.export.weights import save_graphs
from dragoman.training.checkpoint import save_checkpoint
from dragoman.transformer import Transformer, TransformerConfig

app = typer.Typer()
app.command()(export)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def small_checkpoint(tmp_path: Path, tiny_checkpoint: Path) -> Path:
    """A random model of one layer, with the tokenizer of the tiny one."""
    torch.manual_seed(0)
    config = TransformerConfig.preset(
        "tiny", vocabulary_size=400, encoder_layers=1, decoder_layers=1
    )
    path = tmp_path / "checkpoint"
    facts = {"recipe": {"data": {"source_language_code": "en", "target_language_code": "de"}}}
    save_checkpoint(path, Transformer(config), tiny_checkpoint / "tokenizer.model", facts)
    return path


@pytest.mark.parametrize(
    ("options", "caches"), [((), "int8"), (("--cache-precision", "fp32"), "fp32")]
)
def test_a_trained_model_becomes_an_int8_bundle(
    tmp_path: Path, tiny_checkpoint: Path, tiny_run: Path, options: tuple[str, ...], caches: str
) -> None:
    path = tmp_path / "numbers"
    languages = ("--source-language", "en", "--target-language", "de")
    result = run(tiny_checkpoint, path, "--dev", tiny_run / "dev.tsv", *languages, *options)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == f"wrote {path}"
    bundle = Bundle.load(path)
    assert (bundle.name, bundle.precision, bundle.cache_precision) == ("numbers", "int8", caches)
    checks = {check["name"]: check for check in bundle.certificate["checks"]}
    assert list(checks) == [
        "stepped_error",
        "non_finite_parameters",
        "stored_bytes_ratio",
        "neighbour_dependence",
        "reading_error",
        "scoring_error",
        "fp32_chrf",
        "int8_chrf",
        "int8_chrf_loss",
        "int8_copied_increase",
        "int8_looping_increase",
    ]
    assert checks["int8_chrf"]["value"] > 95
    assert (checks["scoring_error"]["value"], checks["scoring_error"]["bound"]) == (0, 1e-3)
    assert all(check["value"] <= check.get("bound", 100) for check in checks.values())
    assert bundle.training["parameter_count"] > 0
    Engine.load(path).stop()
    assert [found.name for found in tmp_path.iterdir()] == ["numbers"]


def test_without_dev_text_the_bundle_is_fp32(tmp_path: Path, small_checkpoint: Path) -> None:
    path = tmp_path / "en-de"
    result = run(small_checkpoint, path, "--name", "some-model")
    assert result.exit_code == 0, result.output
    bundle = Bundle.load(path)
    assert (bundle.name, bundle.precision) == ("some-model", "fp32")
    checks = {check["name"]: check for check in bundle.certificate["checks"]}
    assert list(checks)[-2:] == ["stepped_error", "scoring_error"]
    assert (checks["scoring_error"]["value"], checks["scoring_error"]["bound"]) == (0, 1e-3)


def test_a_disturbed_weight_writes_nothing(
    tmp_path: Path, small_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save_and_disturb(graphs: Mapping[str, ir.Model], directory: Path) -> int:
        stored = save_graphs(graphs, directory)
        weights = np.fromfile(directory / WEIGHTS, np.float32)
        weights[:64] += 0.1 * np.resize([1, -1], 64)
        weights.tofile(directory / WEIGHTS)
        return stored

    monkeypatch.setattr(exporting, "save_graphs", save_and_disturb)
    result = run(small_checkpoint, tmp_path / "en-de")
    assert result.exit_code == 1
    assert "dragoman export: stepped_error" in result.output
    assert [found.name for found in tmp_path.iterdir()] == ["checkpoint"]


def refusal(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 1
    line = result.output.splitlines()[-1]
    assert line.startswith("dragoman export: ")
    return line


def test_int8_without_dev_text_is_refused(tmp_path: Path, small_checkpoint: Path) -> None:
    line = refusal(small_checkpoint, tmp_path / "en-de", "--precision", "int8")
    assert "give it by --dev" in line
    assert not (tmp_path / "en-de").exists()


def test_an_altered_checkpoint_is_refused(tmp_path: Path, small_checkpoint: Path) -> None:
    target = tmp_path / "en-de"
    path = small_checkpoint / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    projection = {**tensors, "projection.weight": tensors["embedding.weight"].clone()}
    safetensors.torch.save_file(projection, path)
    assert "projection.weight: belongs to no part of the model" in refusal(small_checkpoint, target)
    del tensors["embedding.weight"]
    safetensors.torch.save_file(tensors, path)
    assert "embedding.weight: is missing" in refusal(small_checkpoint, target)
    path.write_bytes(path.read_bytes()[:-9])
    assert "model.safetensors" in refusal(small_checkpoint, target)
    assert not target.exists()


def test_another_tokenizer_is_refused(tmp_path: Path, small_checkpoint: Path) -> None:
    (small_checkpoint / "tokenizer.model").write_bytes(b"pieces")
    line = refusal(small_checkpoint, tmp_path / "en-de")
    assert "not the tokenizer of this checkpoint" in line


def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path, tiny_checkpoint: Path) -> None:
    path = tmp_path / "checkpoint"
    config = TransformerConfig.preset("tiny", vocabulary_size=403)
    save_checkpoint(path, Transformer(config), tiny_checkpoint / "tokenizer.model", {})
    line = refusal(path, tmp_path / "en-de", "--source-language", "en", "--target-language", "de")
    assert "has 400 pieces, the model has 403" in line


def test_a_head_size_that_no_graph_holds_is_refused(tmp_path: Path, tiny_checkpoint: Path) -> None:
    path = tmp_path / "checkpoint"
    config = TransformerConfig.preset("tiny", vocabulary_size=400, d_model=48)
    save_checkpoint(path, Transformer(config), tiny_checkpoint / "tokenizer.model", {})
    assert "must be a multiple of 8" in refusal(path, tmp_path / "en-de")


def test_a_checkpoint_that_names_no_language_asks_for_it(
    tmp_path: Path, small_checkpoint: Path
) -> None:
    path = small_checkpoint / "checkpoint.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "facts": {}}), encoding="utf-8")
    assert "source_language_code: " in refusal(small_checkpoint, tmp_path / "en-de")


def test_no_checkpoint_at_all_is_refused(tmp_path: Path, small_checkpoint: Path) -> None:
    shutil.rmtree(small_checkpoint)
    assert "no readable checkpoint.json" in refusal(small_checkpoint, tmp_path / "en-de")
