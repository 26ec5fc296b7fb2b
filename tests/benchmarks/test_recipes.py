"""Compared recipes: their settings, how long they run, their table."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.recipes import publish
from benchmarks.recipes_dev import by_length, dev_loss, dev_outputs, read_rows, scores
from benchmarks.recipes_plan import Plan, parser
from benchmarks.recipes_run import Spent, finished, steps_for, timed
from benchmarks.recipes_table import CurvePoint, Result, markdown
from benchmarks.recipes_variants import VARIANTS, Variant, chosen, run_settings
from dragoman.training.batches import BatchStream
from dragoman.training.packed import PackedCorpus
from dragoman.training.recipe import load_recipe
from dragoman.training.schedule import rate_factor
from dragoman.transformer import TransformerConfig

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "export" / "dragoman" / "training" / "recipes" / "en-de.toml"


def result(name: str, **values: Any) -> Result:
    """A result with some figures replaced."""
    curve = [CurvePoint(5, 500, 60.0, 5.0, 1.5), CurvePoint(10, 1_000, 120.0, 4.0, 1.25)]
    made = Result(
        name=name,
        question="?",
        settings=["training.batch_tokens=16"],
        parameters=7_300_000,
        updates=10,
        target_tokens=1_000,
        loss_per_token=4.0,
        loss_per_character=1.25,
        bleu=3.0,
        chrf=20.0,
        processor_seconds=2.0,
        wall_seconds=36.0,
        dev_rows=5,
        curve=curve,
    )
    return replace(made, **values)


def corpus() -> PackedCorpus:
    """300 pairs of 2 to 9 tokens."""
    generator = np.random.default_rng(1)
    sizes = generator.integers(2, 10, 300)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ids = generator.integers(4, 30, int(offsets[-1])).astype(np.uint16)
    origins = np.zeros(300, np.uint8)
    return PackedCorpus(ids, offsets, ids, offsets, origins, ("all",), {})


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_is_a_recipe_that_decays_to_zero(variant: Variant) -> None:
    settings = (*variant.settings, *run_settings(340, 1))
    recipe = load_recipe(RECIPE, Variant(variant.name, "", settings).overrides())
    assert recipe.training.steps == 340
    assert rate_factor(238, 340, recipe.optimizer) == 1
    assert rate_factor(340, 340, recipe.optimizer) == pytest.approx(0, abs=1e-12)
    size = recipe.tokenizer.vocabulary_size
    TransformerConfig.preset(recipe.preset, **{"vocabulary_size": size, **recipe.model})


def test_variants_differ_from_each_other_and_one_of_them_is_shipped() -> None:
    names = [variant.name for variant in VARIANTS]
    recipes = [load_recipe(RECIPE, variant.overrides()) for variant in VARIANTS]
    assert len(set(names)) == len(names)
    assert all(recipes.count(recipe) == 1 for recipe in recipes)
    assert load_recipe(RECIPE) in recipes


def test_variants_are_chosen_by_name() -> None:
    assert chosen(None) == VARIANTS
    assert [variant.name for variant in chosen(["adam", "baseline"])] == ["baseline", "adam"]
    with pytest.raises(ValueError, match=r"no such variant: atom; known: .*adam"):
        chosen(["atom"])


@pytest.mark.parametrize("tokens", [1, 100, 700, 4_000])
def test_as_many_updates_as_see_the_tokens(tokens: int) -> None:
    values = {"training.batch_tokens": 64}
    recipe = load_recipe(RECIPE, values)
    packed = corpus()
    steps = steps_for(packed, recipe, tokens)
    loop = recipe.training
    stream = BatchStream(packed, loop.batch_tokens, loop.seed, recipe.data.origin_weights)
    seen = [batch.target_tokens for _, _, batch in islice(stream.iterate(0, 0), steps)]
    assert sum(seen) >= tokens > sum(seen[:-1])


def test_the_data_come_from_the_command_line(tmp_path: Path) -> None:
    train, dev = tmp_path / "train.tsv", tmp_path / "dev.tsv"
    flags = [str(RECIPE), "--train", str(train), "--dev", str(dev), "--output", str(tmp_path)]
    plan = Plan.read(parser("").parse_args(flags))
    assert plan == Plan(RECIPE, train, dev, 1_000_000, tmp_path)
    recipe = plan.load(VARIANTS[0])
    assert recipe.data.train == (str(train),)
    assert recipe.data.dev == str(dev)


def test_a_process_is_timed_or_its_log_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    spent = timed(["sh", "-c", "echo $OMP_NUM_THREADS"], 3, log)
    assert log.read_text() == "3\n"
    assert spent.cpu >= 0
    assert spent.wall > 0
    with pytest.raises(RuntimeError, match=f"sh ended with 3; see {log}"):
        timed(["sh", "-c", "exit 3"], 1, log)


def test_the_dev_loss_is_told_per_token_and_per_character(tiny_run: Path) -> None:
    rows = read_rows(tiny_run / "dev.tsv", 12)
    checkpoint = tiny_run / "checkpoint"
    loss = dev_loss(checkpoint, rows)
    assert len(rows) == 12
    assert loss.characters == sum(len(row.target) for row in rows)
    assert 0 < loss.per_character < loss.per_token < 1
    bleu, chrf = scores(dev_outputs(checkpoint, rows), rows)
    assert 0 <= bleu <= 100  # number words have no four tokens in a row
    assert chrf > 50


def test_rows_are_put_in_order_of_length(tiny_run: Path) -> None:
    rows = by_length(read_rows(tiny_run / "dev.tsv", 12))
    sizes = [len(row.source) for row in rows]
    assert sizes == sorted(sizes)


def test_the_figures_of_a_run_are_those_of_its_last_checkpoint(tiny_run: Path) -> None:
    rows = read_rows(tiny_run / "dev.tsv", 5)
    expected = result("a")
    variant = Variant("a", "?", ("training.batch_tokens=16",))
    outputs = [row.target for row in by_length(rows)]
    found = finished(variant, 7_300_000, expected.curve, outputs, rows, Spent(2.0, 36.0))
    assert found.chrf == pytest.approx(100)
    assert found == replace(expected, bleu=found.bleu, chrf=found.chrf)


def test_the_table_marks_what_is_best() -> None:
    results = [result("a"), result("b", bleu=3.5, loss_per_character=1.2, loss_per_token=4.2)]
    lines = markdown(results).splitlines()
    assert lines[2] == (
        "| a | 7.3 M | 1,000 | 10 | 1.250 | 4.000 | 3.0 | **20.0** | 0.001 | 0.010 | 500 |"
    )
    assert lines[3].startswith("| b | 7.3 M | 1,000 | 10 | **1.200** | 4.200 | **3.5** |")
    assert lines[5] == "| dev loss / character after | 50% of the tokens | 100% of the tokens |"
    assert lines[7] == "| a | 1.500 (1.0 min) | 1.250 (2.0 min) |"


def test_finished_variants_are_published_in_order(tmp_path: Path) -> None:
    for name in ("adam", "baseline"):
        result(name).write(tmp_path / f"{name}.json")
    publish(tmp_path)
    assert Result.read(tmp_path / "adam.json") == result("adam")
    names = [line.split(" ")[1] for line in (tmp_path / "recipes.md").read_text().splitlines()[2:4]]
    assert names == ["baseline", "adam"]
    assert '"name": "adam"' in (tmp_path / "recipes.json").read_text()
