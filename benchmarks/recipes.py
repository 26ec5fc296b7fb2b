"""Compare training recipes: the same data, seed and target tokens, one after the other.

    python -m benchmarks.recipes RECIPE.toml --train FILE --dev FILE --tokens 1000000 --output DIR

Every variant (benchmarks/recipes_variants.py) trains in a process of its own, with its rate
decayed to zero over the last 30 % of its updates, and is measured on the same first dev rows.
Finished variants are kept: called again, it goes on with the next one. It writes DIR/recipes.json
and DIR/recipes.md. A tokenizer that is there already can be put in DIR/tokenizer-8000.model.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.recipes_dev import read_rows
from benchmarks.recipes_plan import Plan, parser
from benchmarks.recipes_run import run
from benchmarks.recipes_table import Result, write_table
from benchmarks.recipes_variants import VARIANTS, chosen


def main() -> None:
    """Run what is missing and print the table."""
    flags = parser(__doc__)
    flags.add_argument("--variant", action="append", help="only this one; may be repeated")
    arguments = flags.parse_args()
    plan = Plan.read(arguments)
    plan.output.mkdir(parents=True, exist_ok=True)
    rows = read_rows(plan.dev, plan.dev_rows)
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
    write_table(results, output / "recipes.json")


if __name__ == "__main__":
    main()
