"""Results of compared recipes: JSON on disk, a Markdown table to read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_HEAD = (
    "variant",
    "parameters",
    "target tokens",
    "updates",
    "dev loss / character",
    "dev loss / token",
    "BLEU",
    "chrF",
    "processor h",
    "wall h",
    "tokens / processor s",
)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Dev loss (nats) of one checkpoint; `seconds` are wall-clock seconds of training."""

    updates: int
    target_tokens: int
    seconds: float
    loss_per_token: float
    loss_per_character: float


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one finished variant."""

    name: str
    question: str
    settings: list[str]
    parameters: int
    updates: int
    target_tokens: int
    loss_per_token: float
    loss_per_character: float
    bleu: float
    chrf: float
    processor_seconds: float
    wall_seconds: float
    dev_rows: int
    curve: list[CurvePoint]

    @property
    def speed(self) -> float:
        """Target tokens per processor second."""
        return self.target_tokens / self.processor_seconds

    def write(self, path: Path) -> None:
        """Write the result as JSON, whole or not at all."""
        partial = path.with_name(path.name + ".part")
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        partial.rename(path)

    @classmethod
    def read(cls, path: Path) -> Result:
        """Read what `write` wrote."""
        values = json.loads(path.read_text(encoding="utf-8"))
        curve = [CurvePoint(**point) for point in values.pop("curve")]
        return cls(curve=curve, **values)


def write_table(results: list[Result], path: Path) -> None:
    """Write results as JSON, and beside it as Markdown."""
    content = json.dumps([asdict(result) for result in results], indent=1)
    path.write_text(content + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(markdown(results), encoding="utf-8")


def markdown(results: list[Result]) -> str:
    """Return the table of all results, the best figure of a column in bold, and the curves."""
    rows = [_cells(result, results) for result in results]
    return f"{_table([list(_HEAD), *rows])}\n\n{_table(_curves(results))}\n"


def _cells(result: Result, results: list[Result]) -> list[str]:
    def lowest(name: str, digits: int) -> str:
        value = getattr(result, name)
        return _bold(f"{value:.{digits}f}", value == min(getattr(r, name) for r in results))

    def highest(name: str) -> str:
        value = getattr(result, name)
        return _bold(f"{value:.1f}", value == max(getattr(r, name) for r in results))

    return [
        result.name,
        f"{result.parameters / 1e6:.1f} M",
        f"{result.target_tokens:,}",
        f"{result.updates:,}",
        lowest("loss_per_character", 3),
        f"{result.loss_per_token:.3f}",
        highest("bleu"),
        highest("chrf"),
        f"{result.processor_seconds / 3600:.3f}",
        f"{result.wall_seconds / 3600:.3f}",
        f"{result.speed:,.0f}",
    ]


def _curves(results: list[Result]) -> list[list[str]]:
    """Dev loss per character against the tokens seen, with training's own wall-clock minutes."""
    count = max(len(result.curve) for result in results)
    head = ["dev loss / character after"]
    head += [f"{point / count:.0%} of the tokens" for point in range(1, count + 1)]
    return [head] + [
        [result.name]
        + [f"{p.loss_per_character:.3f} ({p.seconds / 60:.1f} min)" for p in result.curve]
        for result in results
    ]


def _bold(text: str, best: bool) -> str:
    return f"**{text}**" if best else text


def _table(rows: list[list[str]]) -> str:
    rules = ["---"] + ["---:"] * (len(rows[0]) - 1)
    lines = [rows[0], rules, *rows[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
