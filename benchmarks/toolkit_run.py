"""Installing the other toolkit, and reading its figures from its own log and translations."""

from __future__ import annotations

import json
import re
import subprocess
import venv as virtualenv
from dataclasses import dataclass
from pathlib import Path

import sentencepiece
from safetensors.numpy import load_file

from benchmarks.recipes_run import Spent, finished, timed
from benchmarks.recipes_table import CurvePoint, Result
from benchmarks.recipes_variants import Variant
from benchmarks.toolkit_config import PACKAGE, REQUIREMENTS, VERSION
from dragoman.training.corpus import Pair

_STEP = re.compile(
    r"Step (?P<step>\d+)/.*bsz: +\d+/ *(?P<tokens>\d+)/ *\d+; .*; +(?P<seconds>\d+) sec;"
)
_GOLD = re.compile(r"GOLD SCORE: (?P<score>-[\d.]+),.*NB SENTENCES: (?P<sentences>\d+)")


@dataclass(frozen=True, slots=True)
class LogStep:
    """Target tokens seen after an update, and wall-clock seconds since the start of training."""

    target_tokens: int
    seconds: float


def install(venv: Path) -> None:
    """Make the virtual environment and install the pinned toolkit, unless it is there."""
    if (venv / "bin" / PACKAGE).exists():
        return
    virtualenv.create(venv, with_pip=True)
    subprocess.run([venv / "bin" / "pip", "install", *REQUIREMENTS], check=True)


def read_log(text: str) -> dict[int, LogStep]:
    """Return what every update's line of the log (report_every 1) says, by update number."""
    steps: dict[int, LogStep] = {}
    seen = 0
    for match in _STEP.finditer(text):
        seen += int(match["tokens"])
        steps[int(match["step"])] = LogStep(seen, float(match["seconds"]))
    return steps


def read_nats(text: str) -> float:
    """Return the summed cross-entropy (nats) of the references that a prediction's log tells."""
    match = _GOLD.search(text)
    if match is None:
        raise ValueError("the log names no GOLD SCORE")
    return -float(match["score"]) * int(match["sentences"])


def evaluate(folder: Path, venv: Path, rows: list[Pair], spent: Spent) -> Result:
    """Translate and score the dev rows with each checkpoint and return all figures."""
    steps = read_log((folder / "train.log").read_text(encoding="utf-8"))
    numbers = sorted(int(path.name[5:]) for path in (folder / "model").glob("step_*"))
    curve = [_point(folder, venv, rows, number, steps[number]) for number in numbers]
    outputs = (folder / f"dev.{numbers[-1]}.txt").read_text(encoding="utf-8").splitlines()
    values = json.loads((folder / "eole.json").read_text(encoding="utf-8"))["training"]
    settings = tuple(f"{key}={value}" for key, value in values.items() if key != "model_path")
    toolkit = Variant(f"{PACKAGE} {VERSION}", "another toolkit, its Adam", settings)
    parameters = _parameters(folder / "model" / f"step_{numbers[-1]}")
    return finished(toolkit, parameters, curve, outputs, rows, spent)


def _point(folder: Path, venv: Path, rows: list[Pair], number: int, seen: LogStep) -> CurvePoint:
    log = folder / f"dev.{number}.log"
    options = {
        "model_path": f"{folder}/model/step_{number}",
        "src": f"{folder}/dev.src",
        "tgt": f"{folder}/dev.tgt",
        "output": f"{folder}/dev.{number}.txt",
        "beam_size": "1",
        "max_length": "128",
        "world_size": "0",
        "compute_dtype": "fp32",
        "batch_type": "tokens",
        "batch_size": "2048",
    }
    arguments = [part for name, value in options.items() for part in (f"-{name}", value)]
    timed([str(venv / "bin" / PACKAGE), "predict", *arguments], 1, log)
    nats = read_nats(log.read_text(encoding="utf-8"))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "pieces.model"))
    tokens = sum(len(processor.encode(row.target)) + 1 for row in rows)
    return CurvePoint(
        updates=number,
        target_tokens=seen.target_tokens,
        seconds=seen.seconds,
        loss_per_token=nats / tokens,
        loss_per_character=nats / sum(len(row.target) for row in rows),
    )


def _parameters(checkpoint: Path) -> int:
    """Count the values of all trained tensors; tables of positions are stored, but not trained."""
    return sum(
        value.size
        for path in checkpoint.glob("*.safetensors")
        for name, value in load_file(path).items()
        if not name.endswith(".pe")
    )
