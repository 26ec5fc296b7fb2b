from importlib.resources import files
from pathlib import Path

import pytest

from dragoman.training.cli import parse_overrides
from dragoman.training.recipe import load_recipe, parse_recipe
from dragoman.transformer import ConfigError, TransformerConfig


def test_the_shipped_recipe_reads() -> None:
    recipe = load_recipe(Path(str(files("dragoman.training") / "recipes" / "en-de.toml")))
    assert recipe.preset == "small"
    assert recipe.optimizer.name == "muon"


def test_the_recipe_for_a_gpu_reads() -> None:
    recipe = load_recipe(Path(str(files("dragoman.training") / "recipes" / "en-de-base.toml")))
    assert (recipe.preset, recipe.training.device, recipe.training.precision) == (
        "base",
        "cuda",
        "bf16",
    )
    sizes = {**recipe.model, "vocabulary_size": recipe.tokenizer.vocabulary_size}
    assert TransformerConfig.preset(recipe.preset, **sizes).d_model == 512
    assert recipe.optimizer.decay_steps < recipe.training.steps
    assert recipe.training.shard_bytes


def test_paths_start_at_the_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "x.toml"
    recipe.write_text(
        '[data]\ntrain = ["a.tsv", ["b.en", "b.de"], "/c.tsv"]\ndev = "dev.tsv"\n'
        '[tokenizer]\npath = "t.model"\n',
        encoding="utf-8",
    )
    loaded = load_recipe(recipe)
    pair = (str(tmp_path / "b.en"), str(tmp_path / "b.de"))
    assert loaded.data.train == (str(tmp_path / "a.tsv"), pair, "/c.tsv")
    assert loaded.data.dev == str(tmp_path / "dev.tsv")
    assert loaded.tokenizer.path == str(tmp_path / "t.model")


def test_overrides_win(tmp_path: Path) -> None:
    recipe = tmp_path / "x.toml"
    recipe.write_text('[data]\ntrain = ["a.tsv"]\n[training]\nsteps = 5\n', encoding="utf-8")
    overrides = parse_overrides(["training.steps=7", "optimizer.name=adam", "model.preset=tiny"])
    loaded = load_recipe(recipe, overrides)
    assert (loaded.training.steps, loaded.optimizer.name, loaded.preset) == (7, "adam", "tiny")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"data": {}}, "data: .*train"),
        ({"data": {"train": []}}, "data.train: .* must be at least one file"),
        ({"data": {"train": ["a"]}, "extra": {}}, r"unknown section\(s\): extra"),
        ({"data": {"train": ["a"], "shuffle": 1}}, r"data: unknown field\(s\): shuffle"),
        ({"data": {"train": ["a"]}, "training": {"steps": 0}}, "training.steps: 0 must be >= 1"),
        (
            {"data": {"train": ["a"]}, "tokenizer": {"vocabulary_size": 9}},
            r"tokenizer.vocabulary_size: 9 must be in 260\.\.65536",
        ),
        (
            {"data": {"train": ["a"]}, "optimizer": {"name": "sgd"}},
            "optimizer.name: 'sgd' must be adam or muon",
        ),
        (
            {"data": {"train": ["a"], "origin_weights": {"ui": 2}}},
            r"data.origin_weights.ui: 2 must be in \[0, 1\]",
        ),
        (
            {"data": {"train": ["a"]}, "training": {"shard_bytes": 1000}},
            "training.shard_bytes: 1000 must be >= 65536",
        ),
        (
            {"data": {"train": ["a"], "copy_augmentation": 0.6}},
            r"data.copy_augmentation: 0.6 must be in \[0, 0.5\]",
        ),
        (
            {"data": {"train": ["a"]}, "training": {"device": "tpu"}},
            "training.device: 'tpu' must be auto, cpu or cuda",
        ),
        (
            {"data": {"train": ["a"]}, "training": {"precision": "fp8"}},
            "training.precision: 'fp8' must be auto, fp32 or bf16",
        ),
    ],
)
def test_a_wrong_recipe_names_field_value_and_bound(
    values: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_recipe(values, Path())


def test_a_missing_recipe_is_one_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_recipe(Path("nowhere.toml"))


def test_an_override_without_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'training\.steps' must be name=value"):
        parse_overrides(["training.steps"])
