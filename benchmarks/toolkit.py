"""A reference point that is not ours: eole on the same pairs, pieces, shape, rows and machine.

    python -m benchmarks.toolkit RECIPE.toml --train FILE --dev FILE --tokens 1000000 \
        --output DIR --venv DIR [--ours DIR/baseline.json]...

It sets the toolkit up in a virtual environment of its own, gives it the very pairs that our run
of so many tokens sees (benchmarks/recipes.py, whose output folder this may be), trains with one
process, translates the same dev rows greedily, and prints both sides as one table.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from benchmarks.recipes_dev import by_length, read_rows
from benchmarks.recipes_run import Plan, timed, tokenizer_for
from benchmarks.recipes_table import Result, markdown
from benchmarks.recipes_variants import Variant
from benchmarks.toolkit_config import training_config, write_config
from benchmarks.toolkit_data import write_dev, write_train, write_vocabulary
from benchmarks.toolkit_run import evaluate, install
from dragoman.training.packed import pack
from dragoman.transformer import TransformerConfig


def main() -> None:
    """Set up, train, evaluate what is missing; print the table."""
    arguments = _parser().parse_args()
    plan = Plan(
        recipe=arguments.recipe,
        train=arguments.train,
        dev=arguments.dev,
        tokens=arguments.tokens,
        output=arguments.output.resolve(),
        threads=arguments.threads,
    )
    path = plan.output / "toolkit.json"
    if not path.exists():
        measure(plan, arguments.venv.resolve(), arguments.dev_rows, not arguments.fp32).write(path)
    results = [*map(Result.read, arguments.ours), Result.read(path)]
    content = json.dumps([asdict(result) for result in results], indent=1)
    (plan.output / "toolkits.json").write_text(content + "\n", encoding="utf-8")
    (plan.output / "toolkits.md").write_text(markdown(results), encoding="utf-8")
    print(markdown(results))


def measure(plan: Plan, venv: Path, dev_rows: int, bf16: bool) -> Result:
    """Train the toolkit once and return its figures."""
    folder = plan.output / "toolkit"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = by_length(read_rows(plan.dev, dev_rows))
    prepare(plan, folder, bf16)
    write_dev(rows, folder)
    install(venv)
    command = [str(venv / "bin" / "eole"), "train", "-config", str(folder / "eole.json")]
    cpu, wall = timed(command, plan.threads, folder / "train.log")
    return evaluate(folder, venv, rows, cpu, wall)


def prepare(plan: Plan, folder: Path, bf16: bool) -> None:
    """Write pieces, pairs and settings."""
    recipe = plan.load(Variant("baseline", ""))
    model = TransformerConfig.preset(
        recipe.preset, **{"vocabulary_size": recipe.tokenizer.vocabulary_size, **recipe.model}
    )
    tokenizer = tokenizer_for(plan, recipe)
    shutil.copyfile(tokenizer, folder / "pieces.model")
    write_vocabulary(tokenizer, folder / "pieces.txt")
    corpus = pack(recipe.data, tokenizer, plan.output / "packed")
    drawn = write_train(corpus, recipe, tokenizer, plan.tokens, folder)
    settings = training_config(recipe, model, folder, drawn.updates, bf16)
    write_config(settings, folder / "eole.json")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--ours", type=Path, action="append", default=[])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dev-rows", type=int, default=500)
    parser.add_argument("--fp32", action="store_true", help="for processors without bf16")
    return parser


if __name__ == "__main__":
    main()
