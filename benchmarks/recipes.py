"""Compare training recipes: the same data, seed and target tokens, one after the other.

    python -m benchmarks.recipes RECIPE.toml --train FILE --dev FILE --tokens 1000000 --output DIR

Every variant (benchmarks/recipes_variants.py) trains in a process of its own, with its rate
decayed to zero over the last 30 % of its updates, and is measured on the same first dev rows.
Finished variants are kept: called again, it goes on with the next one. It writes DIR/recipes.json
and DIR/recipes.md. A tokenizer that is there already can be put in DIR/tokenizer-8000.model.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.recipes_dev import read_rows
from benchmarks.recipes_run import Plan, run
from benchmarks.recipes_table import Result, markdown
from benchmarks.recipes_variants import VARIANTS, chosen


def main() -> None:
    """Run what is missing and print the table."""
    arguments = _parser().parse_args()
    plan = Plan(
        recipe=arguments.recipe,
        train=arguments.train,
        dev=arguments.dev,
        tokens=arguments.tokens,
        output=arguments.output,
        threads=arguments.threads,
    )
    plan.output.mkdir(parents=True, exist_ok=True)
    rows = read_rows(plan.dev, arguments.dev_rows)
    for variant in chosen(arguments.variant):
        path = plan.output / f"{variant.name}.json"
        if not path.exists():
            print(f"{variant.name}: {variant.question}", flush=True)
            run(plan, variant, rows).write(path)
        publish(plan.output)
    print((plan.output / "recipes.md").read_text(encoding="utf-8"))


def publish(output: Path) -> None:
    """Write the table of all finished variants as Markdown and JSON."""
    paths = [output / f"{variant.name}.json" for variant in VARIANTS]
    results = [Result.read(path) for path in paths if path.exists()]
    content = json.dumps([asdict(result) for result in results], indent=1)
    (output / "recipes.json").write_text(content + "\n", encoding="utf-8")
    (output / "recipes.md").write_text(markdown(results), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dev-rows", type=int, default=500)
    parser.add_argument("--variant", action="append", help="only this one; may be repeated")
    return parser


if __name__ == "__main__":
    main()
