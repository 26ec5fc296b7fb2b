"""Session fixtures: a tiny Transformer trained for real, shared by all test processes."""

from __future__ import annotations

import fcntl
import hashlib
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import number_words

# A shell starts its background jobs with SIGINT ignored, and every child would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "tests"


class SilentReporter:
    """Takes what a training run would show."""

    def note(self, text: str) -> None: ...

    def step(self, values: dict[str, Any]) -> None: ...

    def dev(self, step: int, figures: object) -> None: ...


def cached(name: str, folders: tuple[str, ...], build: Callable[[Path], None]) -> Path:
    """Return `CACHE/name-<hash of sources>`, built once however many processes ask."""
    path = CACHE / f"{name}-{sources_hash(folders)}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with _locked(CACHE / f"{name}.lock"):
        if not (path / "done").exists():
            path.mkdir(parents=True, exist_ok=True)
            build(path)
            (path / "done").touch()
    return path


def sources_hash(folders: tuple[str, ...]) -> str:
    """Hash every Python source under the folders, and the recipe of the fixtures themselves."""
    digest = hashlib.sha256()
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    for path in [*files, Path(__file__), Path(number_words.__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


TRAINING_SOURCES = ("export/dragoman/transformer", "export/dragoman/training")


def tiny_recipe(folder: Path, **training: object) -> Any:
    """Return the recipe of the tiny model, its data written into `folder`."""
    from dragoman.training.recipe import parse_recipe

    train, held_out = number_words.split()
    (folder / "train.tsv").write_text(number_words.tsv(train), encoding="utf-8")
    (folder / "dev.tsv").write_text(number_words.tsv(held_out), encoding="utf-8")
    steps = 600
    values = {
        "model": {"preset": "tiny", "vocabulary_size": 400},
        "tokenizer": {"vocabulary_size": 400, "character_coverage": 1.0},
        "data": {"train": ["train.tsv"], "dev": "dev.tsv", "max_tokens": 60},
        "optimizer": {
            "learning_rate": 3e-3,
            "matrix_learning_rate": 1e-2,
            "warmup_steps": 30,
            "decay_steps": steps // 2,
        },
        "training": {
            "steps": steps,
            "batch_tokens": 1500,
            "precision": "fp32",
            "device": "cpu",
            "threads": 1,
            "label_smoothing": 0.05,
            "evaluate_every": steps,
            "checkpoint_every": steps,
            **training,
        },
    }
    return parse_recipe(values, folder)


def _train(folder: Path) -> None:
    from dragoman.training.trainer import Trainer

    trainer = Trainer(tiny_recipe(folder), folder / "run", SilentReporter())
    trainer.run()
    trainer.save(folder / "checkpoint", resumable=False)


@pytest.fixture(scope="session")
def tiny_run() -> Path:
    """The directory of the tiny model's training: `train.tsv`, `dev.tsv`, `run/`, `checkpoint/`."""
    return cached("tiny", TRAINING_SOURCES, _train)


@pytest.fixture(scope="session")
def tiny_checkpoint(tiny_run: Path) -> Path:
    """A checkpoint of a tiny Transformer that translates number words up to 9999."""
    return tiny_run / "checkpoint"


# What the bytes of a bundle depend on; the engine only measures them.
BUNDLE_SOURCES = (*TRAINING_SOURCES, "export/dragoman/export")


def _bundle(run: Path, precision: Any, caches: Any = "int8") -> Path:
    def build(folder: Path) -> None:
        from dragoman.export.bundle import Description
        from dragoman.export.export import Checkpoint, Exporter

        description = Description(
            name="numbers-tiny", source_language_code="en", target_language_code="de"
        )
        checkpoint = Checkpoint.load(run / "checkpoint")
        exporter = Exporter(checkpoint, description, lambda _: None, caches)
        exporter.write(folder / "bundle", precision, run / "dev.tsv")

    name = f"tiny-{precision}" + ("" if caches == "int8" else f"-{caches}")
    return cached(name, BUNDLE_SOURCES, build) / "bundle"


@pytest.fixture(scope="session")
def tiny_bundle(tiny_run: Path) -> Path:
    """The int8 bundle of the tiny Transformer."""
    return _bundle(tiny_run, "int8")


@pytest.fixture(scope="session")
def tiny_bundle_float_caches(tiny_run: Path) -> Path:
    """The same with keys and values in float32."""
    return _bundle(tiny_run, "int8", "fp32")


@pytest.fixture(scope="session")
def tiny_bundle_fp32(tiny_run: Path) -> Path:
    """The fp32 bundle of the tiny Transformer."""
    return _bundle(tiny_run, "fp32")
