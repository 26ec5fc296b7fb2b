"""The training recipe: one TOML file, read into frozen settings."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from dragoman.transformer import ConfigError

_Settings = TypeVar("_Settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSettings:
    """Where the pairs come from and which of them are kept.

    `train` names TSV files (source, target, optional origin; .xz and .gz are read too) or pairs of
    aligned files as `["source.txt", "target.txt"]`. `origin_weights` keeps only that share of an
    origin's pairs in each epoch, another draw every time. Lengths are tokens with EOS.
    `copy_augmentation` is the share of the pairs, 0 to 0.5, that get an invented address, path,
    version or name on both sides, other pairs and texts in each epoch.
    """

    train: tuple[str | tuple[str, str], ...]
    dev: str | tuple[str, str] | None = None
    max_tokens: int = 128
    max_length_ratio: float = 4.0
    origin_weights: dict[str, float] = field(default_factory=dict)
    copy_augmentation: float = 0.0
    source_language_code: str = "en"
    target_language_code: str = "de"

    def __post_init__(self) -> None:
        _require(len(self.train) >= 1, "data.train", self.train, "at least one file")
        _require(self.max_tokens >= 2, "data.max_tokens", self.max_tokens, ">= 2")
        _require(self.max_length_ratio > 1, "data.max_length_ratio", self.max_length_ratio, "> 1")
        share = self.copy_augmentation
        _require(0 <= share <= 0.5, "data.copy_augmentation", share, "in [0, 0.5]")
        for origin, weight in self.origin_weights.items():
            _require(0 <= weight <= 1, f"data.origin_weights.{origin}", weight, "in [0, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerSettings:
    """The SentencePiece model: loaded from `path`, or trained on a sample of the data."""

    path: str | None = None
    vocabulary_size: int = 8_000
    character_coverage: float = 0.9995
    sample_sentences: int = 1_000_000

    def __post_init__(self) -> None:
        size = self.vocabulary_size
        _require(260 <= size <= 65_536, "tokenizer.vocabulary_size", size, "in 260..65536")
        coverage = self.character_coverage
        _require(0.9 <= coverage <= 1, "tokenizer.character_coverage", coverage, "in [0.9, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerSettings:
    """Adam for everything, or Muon for the matrices and Adam for embedding, norms and biases.

    The rate rises linearly over `warmup_steps`; then "stable" keeps it until the last
    `decay_steps`, over which it falls as a cosine to `final_fraction`; "inverse-sqrt" is the
    paper's schedule (section 5.3), decayed the same way at the end.
    """

    name: Literal["adam", "muon"] = "muon"
    learning_rate: float = 2e-3
    matrix_learning_rate: float = 3e-3
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    momentum: float = 0.95
    newton_schulz_steps: int = 5
    newton_schulz_dtype: Literal["float32", "bfloat16"] = "float32"
    schedule: Literal["stable", "inverse-sqrt"] = "stable"
    warmup_steps: int = 200
    decay_steps: int = 0
    final_fraction: float = 0.02
    clip_norm: float = 1.0

    def __post_init__(self) -> None:
        _require(self.name in ("adam", "muon"), "optimizer.name", self.name, "adam or muon")
        known = self.schedule in ("stable", "inverse-sqrt")
        _require(known, "optimizer.schedule", self.schedule, "stable or inverse-sqrt")
        for name in ("learning_rate", "matrix_learning_rate", "clip_norm"):
            _require(getattr(self, name) > 0, f"optimizer.{name}", getattr(self, name), "> 0")
        for name in ("warmup_steps", "decay_steps"):
            _require(getattr(self, name) >= 0, f"optimizer.{name}", getattr(self, name), ">= 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """How long, how large, how often. `batch_tokens` counts padded target tokens of a batch.

    `shard_bytes`, at least 65,536, is the most that a file of a checkpoint holds; what is larger
    is written as shards with an index. One file by default.
    """

    steps: int = 10_000
    batch_tokens: int = 4_096
    label_smoothing: float = 0.1
    seed: int = 1
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int | None = None
    log_every: int = 20
    evaluate_every: int = 500
    checkpoint_every: int = 250
    checkpoints_kept: int = 3
    shard_bytes: int | None = None
    dev_sentences: int = 200

    def __post_init__(self) -> None:
        for name in ("steps", "log_every", "evaluate_every", "checkpoint_every", "dev_sentences"):
            _require(getattr(self, name) >= 1, f"training.{name}", getattr(self, name), ">= 1")
        _require(self.batch_tokens >= 16, "training.batch_tokens", self.batch_tokens, ">= 16")
        known = self.device in ("auto", "cpu", "cuda")
        _require(known, "training.device", self.device, "auto, cpu or cuda")
        known = self.precision in ("auto", "fp32", "bf16")
        _require(known, "training.precision", self.precision, "auto, fp32 or bf16")
        size = self.shard_bytes
        _require(size is None or size >= 65_536, "training.shard_bytes", size, ">= 65536")
        smoothing = self.label_smoothing
        _require(0 <= smoothing < 1, "training.label_smoothing", smoothing, "in [0, 1)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that `dragoman train` needs to know; paths are relative to the TOML file."""

    data: DataSettings
    preset: str = "small"
    model: dict[str, Any] = field(default_factory=dict)
    tokenizer: TokenizerSettings = field(default_factory=TokenizerSettings)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    training: LoopSettings = field(default_factory=LoopSettings)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for the checkpoint's facts."""
        return asdict(self)


def load_recipe(path: Path, overrides: dict[str, Any] | None = None) -> Recipe:
    """Read a TOML recipe; `overrides` maps dotted names ("training.steps") to values.

    Raises:
        ConfigError: A section, field or value is unknown or out of bounds.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    for name, value in (overrides or {}).items():
        section, _, key = name.rpartition(".")
        target = values.setdefault(section, {}) if section else values
        target[key] = value
    return parse_recipe(values, path.parent)


def parse_recipe(values: dict[str, Any], base: Path) -> Recipe:
    """Turn nested plain values into a recipe; relative paths start at `base`."""
    values = dict(values)
    model = dict(values.pop("model", {}))
    preset = model.pop("preset", "small")
    sections: dict[str, Any] = {
        "data": _section(DataSettings, _anchored(values.pop("data", {}), base), "data"),
        "tokenizer": _section(TokenizerSettings, _anchor_path(values, base), "tokenizer"),
        "optimizer": _section(OptimizerSettings, values.pop("optimizer", {}), "optimizer"),
        "training": _section(LoopSettings, values.pop("training", {}), "training"),
    }
    if values:
        raise ConfigError(f"unknown section(s): {', '.join(sorted(values))}")
    return Recipe(preset=preset, model=model, **sections)


def _section(kind: type[_Settings], values: dict[str, Any], name: str) -> _Settings:
    known = {entry.name for entry in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - known)
    if unknown:
        raise ConfigError(f"{name}: unknown field(s): {', '.join(unknown)}")
    frozen = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    try:
        return kind(**frozen)
    except TypeError as error:
        raise ConfigError(f"{name}: {error}") from error


def _anchored(values: dict[str, Any], base: Path) -> dict[str, Any]:
    values = dict(values)
    if "train" in values:
        values["train"] = tuple(_anchor(entry, base) for entry in values["train"])
    if values.get("dev") is not None:
        values["dev"] = _anchor(values["dev"], base)
    return values


def _anchor(entry: str | list[str], base: Path) -> str | tuple[str, ...]:
    if isinstance(entry, str):
        return str(base / entry)
    _require(len(entry) == 2, "data.train", entry, "a file or a pair of aligned files")
    return tuple(str(base / name) for name in entry)


def _anchor_path(values: dict[str, Any], base: Path) -> dict[str, Any]:
    settings = dict(values.pop("tokenizer", {}))
    if settings.get("path") is not None:
        settings["path"] = str(base / settings["path"])
    return settings


def _require(holds: bool, name: str, value: object, bound: str) -> None:
    if not holds:
        raise ConfigError(f"{name}: {value!r} must be {bound}")
