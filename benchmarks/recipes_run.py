"""Running one variant: data, number of updates, the training process, its figures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

import numpy as np

from benchmarks.recipes_dev import dev_loss, dev_outputs, scores
from benchmarks.recipes_plan import Plan
from benchmarks.recipes_table import CurvePoint, Result
from benchmarks.recipes_variants import Variant, run_settings
from dragoman.training.batches import BatchStream
from dragoman.training.checkpoint import load_model
from dragoman.training.corpus import Pair
from dragoman.training.packed import PackedCorpus, pack
from dragoman.training.recipe import Recipe
from dragoman.training.tokenizer import train_tokenizer

_TRAIN = "import typer; from dragoman.training.cli import train; typer.run(train)"


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that a process and its children took, of processors and by the clock."""

    cpu: float
    wall: float


def run(plan: Plan, variant: Variant, rows: list[Pair]) -> Result:
    """Train a variant, anew where it was interrupted, and measure it."""
    folder = plan.output / variant.name
    spent = folder / "spent.json"
    if not spent.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        seconds = _train(plan, variant, folder)
        spent.write_text(json.dumps(asdict(seconds)) + "\n", encoding="utf-8")
    seconds = Spent(**json.loads(spent.read_text(encoding="utf-8")))
    return _evaluate(variant, folder, rows, seconds)


def steps_for(corpus: PackedCorpus, recipe: Recipe, tokens: int) -> int:
    """Return after how many updates `tokens` target tokens have been seen."""
    loop = recipe.training
    stream = BatchStream(corpus, loop.batch_tokens, loop.seed, recipe.data.origin_weights)
    lengths = corpus.target_lengths()
    steps, seen = 0, 0
    for epoch in count():
        sizes = [int(lengths[rows].sum()) for rows in stream.epoch_batches(epoch)]
        totals = seen + np.cumsum(sizes)
        if totals[-1] >= tokens:
            return steps + int(np.searchsorted(totals, tokens)) + 1
        steps, seen = steps + len(sizes), int(totals[-1])
    raise AssertionError("unreachable")


def tokenizer_for(plan: Plan, recipe: Recipe) -> Path:
    """Return the tokenizer of this size under the output folder, trained if it is missing."""
    path = plan.output / f"tokenizer-{recipe.tokenizer.vocabulary_size}.model"
    if not path.exists():
        train_tokenizer(recipe.data.train, recipe.tokenizer, path)
    return path


def _train(plan: Plan, variant: Variant, folder: Path) -> Spent:
    """Return what the whole training process took."""
    recipe = plan.load(variant)
    tokenizer = tokenizer_for(plan, recipe)
    corpus = pack(recipe.data, tokenizer, plan.output / "packed")
    (folder / "packed").symlink_to((plan.output / "packed").resolve())
    settings = (
        *plan.settings(variant),
        f'tokenizer.path="{tokenizer.resolve()}"',
        *run_settings(steps_for(corpus, recipe, plan.tokens), plan.threads),
    )
    options = [part for setting in settings for part in ("--set", setting)]
    command = [sys.executable, "-c", _TRAIN, str(plan.recipe), "--output", str(folder), *options]
    return timed(command, plan.threads, folder / "train.log")


def timed(command: list[str], threads: int, log_path: Path) -> Spent:
    """Run a command; return what it and its children took.

    Raises:
        RuntimeError: It ended with an error.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    started = time.monotonic()
    with log_path.open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}; see {log_path}")
    return Spent(usage.ru_utime + usage.ru_stime, time.monotonic() - started)


def finished(
    variant: Variant,
    parameters: int,
    curve: list[CurvePoint],
    outputs: list[str],
    rows: list[Pair],
    spent: Spent,
) -> Result:
    """Return the figures of a run, those of its last checkpoint, whose outputs these are."""
    bleu, chrf = scores(outputs, rows)
    return Result(
        name=variant.name,
        question=variant.question,
        settings=list(variant.settings),
        parameters=parameters,
        updates=curve[-1].updates,
        target_tokens=curve[-1].target_tokens,
        loss_per_token=curve[-1].loss_per_token,
        loss_per_character=curve[-1].loss_per_character,
        bleu=bleu,
        chrf=chrf,
        processor_seconds=spent.cpu,
        wall_seconds=spent.wall,
        dev_rows=len(rows),
        curve=curve,
    )


def _evaluate(variant: Variant, folder: Path, rows: list[Pair], spent: Spent) -> Result:
    checkpoints = sorted(path for path in folder.glob("step-*") if path.is_dir())
    curve = [_point(path, rows) for path in checkpoints]
    model, _, _ = load_model(checkpoints[-1])
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return finished(variant, parameters, curve, dev_outputs(checkpoints[-1], rows), rows, spent)


def _point(checkpoint: Path, rows: list[Pair]) -> CurvePoint:
    _, _, facts = load_model(checkpoint)
    progress = facts["progress"]
    loss = dev_loss(checkpoint, rows)
    return CurvePoint(
        updates=progress["step"],
        target_tokens=progress["target_tokens"],
        seconds=progress["seconds"],
        loss_per_token=loss.per_token,
        loss_per_character=loss.per_character,
    )
