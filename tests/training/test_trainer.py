import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from dragoman.training.checkpoint import latest_checkpoint, load_model, load_state
from dragoman.training.decode import greedy
from dragoman.training.loss import batch_loss
from dragoman.training.tokenizer import load_tokenizer
from dragoman.training.trainer import Trainer
from tests import number_words
from tests.conftest import SilentReporter, tiny_recipe


def test_the_tiny_model_knows_held_out_numbers(tiny_checkpoint: Path) -> None:
    model, tokenizer_path, facts = load_model(tiny_checkpoint)
    tokenizer = load_tokenizer(tokenizer_path, 400)
    _, held_out = number_words.split()
    sources = [[*tokenizer.encode(number_words.english(number)), 3] for number in held_out]
    texts = tokenizer.decode(greedy(model, sources, 60, 100))
    right = sum(a == number_words.german(b) for a, b in zip(texts, held_out, strict=True))
    assert right >= 0.99 * len(held_out)
    assert facts["dev"]["chrf"] > 99
    assert facts["progress"]["step"] == 600


@pytest.mark.parametrize(
    ("optimizer", "training", "copied"),
    [
        ("muon", {}, 0.0),
        ("adam", {}, 0.0),
        ("muon", {"shard_bytes": 100_000}, 0.0),
        ("muon", {"precision": "bf16"}, 0.0),
        ("muon", {}, 0.3),
    ],
)
def test_stopping_and_resuming_changes_nothing(
    tiny_checkpoint: Path,
    tmp_path: Path,
    optimizer: str,
    training: dict[str, object],
    copied: float,
) -> None:
    """With either optimizer; in shards, in bf16, with augmented pairs."""
    short = {"steps": 20, "checkpoint_every": 10, "evaluate_every": 99, "batch_tokens": 500}
    recipe = tiny_recipe(tmp_path, **short, **training)
    recipe = replace(
        recipe,
        data=replace(recipe.data, dev=None, copy_augmentation=copied),
        tokenizer=replace(recipe.tokenizer, path=str(tiny_checkpoint / "tokenizer.model")),
        model={**recipe.model, "dropout": 0.1},
        optimizer=type(recipe.optimizer)(name=optimizer, warmup_steps=5, decay_steps=8),
    )
    whole = Trainer(recipe, tmp_path / "whole", SilentReporter())
    whole.run()
    half = Trainer(recipe, tmp_path / "half", SilentReporter())
    half.run(until=10)
    resumed = Trainer(recipe, tmp_path / "half", SilentReporter())
    assert resumed.resume()
    assert resumed.progress.step == 10
    resumed.run()
    assert resumed.progress.target_tokens == whole.progress.target_tokens
    for (name, ours), (_, theirs) in zip(
        whole.model.named_parameters(), resumed.model.named_parameters(), strict=True
    ):
        assert torch.equal(ours, theirs), name
    states = [load_state(tmp_path / run / "step-00000020")[0] for run in ("whole", "half")]
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    is_sharded = (tmp_path / "half/step-00000020/state.safetensors.index.json").exists()
    assert is_sharded == ("shard_bytes" in training)


def test_a_run_may_change_how_its_checkpoints_are_written(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    """One file before, shards afterwards: what is trained is the same."""
    runs = {}
    recipe = tiny_recipe(tmp_path, steps=4, checkpoint_every=2, batch_tokens=500)
    tokenizer = replace(recipe.tokenizer, path=str(tiny_checkpoint / "tokenizer.model"))
    recipe = replace(recipe, tokenizer=tokenizer, data=replace(recipe.data, dev=None))
    for name, shard_bytes in (("one", None), ("other", 100_000)):
        Trainer(recipe, tmp_path / name, SilentReporter()).run(until=2)
        training = replace(recipe.training, shard_bytes=shard_bytes)
        trainer = Trainer(replace(recipe, training=training), tmp_path / name, SilentReporter())
        assert trainer.resume()
        trainer.run()
        runs[name] = dict(load_model(tmp_path / name / "step-00000004")[0].named_parameters())
    assert all(torch.equal(value, runs["other"][name]) for name, value in runs["one"].items())


def test_a_run_without_checkpoints_starts_afresh(tmp_path: Path) -> None:
    trainer = Trainer(tiny_recipe(tmp_path, steps=1), tmp_path / "run", SilentReporter())
    assert not trainer.resume()


def test_dropping_padding_before_the_projection_changes_nothing(tmp_path: Path) -> None:
    from dragoman.training.batches import make_batch
    from dragoman.training.loss import smoothed_cross_entropy

    trainer = Trainer(tiny_recipe(tmp_path, steps=1), tmp_path / "run", SilentReporter())
    rows = [trainer.corpus.target(row) for row in range(9)]
    batch = make_batch([trainer.corpus.source(row) for row in range(9)], rows)
    logits = trainer.model(batch.source_ids, batch.source_lengths, batch.target_in)
    torch.testing.assert_close(
        batch_loss(trainer.model, batch, 0.1),
        smoothed_cross_entropy(logits, batch.target_out, 0, 0.1),
    )


RECIPE = """
[model]
preset = "tiny"
vocabulary_size = 400
[tokenizer]
vocabulary_size = 400
[data]
train = ["train.tsv"]
dev = "dev.tsv"
max_tokens = 60
[training]
steps = 4
batch_tokens = 300
log_every = 2
evaluate_every = 4
dev_sentences = 5
threads = 1
"""


@pytest.fixture
def recipe_file(tmp_path: Path) -> Path:
    train, held_out = number_words.split()
    (tmp_path / "train.tsv").write_text(number_words.tsv(train) + "broken\n", encoding="utf-8")
    (tmp_path / "dev.tsv").write_text(number_words.tsv(held_out), encoding="utf-8")
    (tmp_path / "numbers.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path / "numbers.toml"


def invoke(*arguments: str) -> tuple[int, str]:
    import typer

    from dragoman.training.cli import train

    app = typer.Typer()
    app.command()(train)
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


def test_the_command_trains_reports_and_resumes(recipe_file: Path) -> None:
    output = recipe_file.parent / "run"
    code, text = invoke(str(recipe_file), "--output", str(output))
    assert code == 0, text
    assert "left out 1 pairs: columns" in text
    assert "step 4/4  loss" in text
    assert "BLEU" in text
    log = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in log] == [2, 4, 4]
    assert (output / "best" / "checkpoint.json").exists()
    code, text = invoke(str(recipe_file), "--output", str(output), "--set", "training.steps=6")
    assert code == 0, text
    assert "resumed step-00000004" in text
    assert (output / "step-00000006").exists()


def test_a_run_can_start_from_another_runs_checkpoint(recipe_file: Path) -> None:
    first, second = recipe_file.parent / "first", recipe_file.parent / "second"
    invoke(str(recipe_file), "--output", str(first))
    tokenizer = json.dumps(str(first / "tokenizer.model"))
    code, text = invoke(
        str(recipe_file),
        "--output",
        str(second),
        "--start-from",
        str(first / "step-00000004"),
        "--set",
        "training.steps=5",
        "--set",
        f"tokenizer.path={tokenizer}",
    )
    assert code == 0, text
    assert load_state(second / "step-00000005")[1].step == 5


def test_a_wrong_recipe_is_one_line(recipe_file: Path) -> None:
    code, text = invoke(str(recipe_file), "--set", "training.steps=0")
    assert code == 1
    assert text.strip() == "dragoman train: training.steps: 0 must be >= 1"


def test_cuda_without_cuda_is_one_line(recipe_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, text = invoke(str(recipe_file), "--set", "training.device=cuda")
    assert code == 1
    assert text.startswith("dragoman train: training.device: 'cuda' must be 'cpu' or 'auto' here")
    assert text.count("\n") == 1


PROGRAM = "import sys; from dragoman.client.cli import main; sys.exit(main())"


def test_a_signal_ends_the_run_with_a_checkpoint(recipe_file: Path) -> None:
    output = recipe_file.parent / "run"
    command = [sys.executable, "-c", PROGRAM, "train", str(recipe_file)]
    limits = ["--output", str(output), "--set", "training.steps=1000000"]
    with subprocess.Popen([*command, *limits], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("step 2/"):
                process.send_signal(signal.SIGTERM)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    checkpoint = latest_checkpoint(output)
    assert checkpoint is not None
    step = load_state(checkpoint)[1].step
    assert step >= 2
    assert f"stopped after step {step}; call it again to go on" in rest
