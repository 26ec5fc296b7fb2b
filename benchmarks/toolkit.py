"""A reference point that is not ours: eole on the same pairs, pieces, shape, rows and machine.

    python -m benchmarks.toolkit RECIPE.toml --train FILE --dev FILE --tokens 1000000 \
        --output DIR --venv DIR [--ours DIR/baseline.json]...

It sets the toolkit up in a virtual environment of its own, gives it the very pairs that our run
of so many tokens sees (benchmarks/recipes.py, whose output folder this may be), trains with one
process, translates the same dev rows greedily, and prints both sides as one table.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.recipes_dev import by_length, read_rows
from benchmarks.recipes_plan import Plan, parser
from benchmarks.recipes_run import timed, tokenizer_for
from benchmarks.recipes_table import Result, markdown, write_table
from benchmarks.recipes_variants import Variant
from benchmarks.toolkit_config import training_config, write_config
from benchmarks.toolkit_data import write_dev, write_train, write_vocabulary
from benchmarks.toolkit_run import evaluate, install
from dragoman.training.packed import pack
from dragoman.transformer import TransformerConfig


def main() -> None:
    """Set up, train, evaluate what is missing; print the table."""
    flags = parser(__doc__)
    flags.add_argument("--venv", type=Path, required=True)
    flags.add_argument("--ours", type=Path, action="append", default=[])
    flags.add_argument("--fp32", action="store_true", help="for processors without bf16")
    arguments = flags.parse_args()
    plan = Plan.read(arguments)
    path = plan.output / "toolkit.json"
    if not path.exists():
        measure(plan, arguments.venv.resolve(), not arguments.fp32).write(path)
    results = [*map(Result.read, arguments.ours), Result.read(path)]
    write_table(results, plan.output / "toolkits.json")
    print(markdown(results))


def measure(plan: Plan, venv: Path, bf16: bool) -> Result:
    """Train the toolkit once and return its figures."""
    folder = plan.output / "toolkit"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = by_length(read_rows(plan.dev, plan.dev_rows))
    prepare(plan, folder, bf16)
    write_dev(rows, folder)
    install(venv)
    command = [str(venv / "bin" / "eole"), "train", "-config", str(folder / "eole.json")]
    return evaluate(folder, venv, rows, timed(command, plan.threads, folder / "train.log"))


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


if __name__ == "__main__":
    main()
