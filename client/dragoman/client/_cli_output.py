"""What commands print: UTF-8 whatever the locale, tables in plain text."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass

from dragoman.client.models import Model
from dragoman.client.options import TranslateOptions
from dragoman.client.results import (
    Alignment,
    Candidate,
    NextToken,
    OutputToken,
    QueriedToken,
    Translation,
)


def write(text: str) -> None:
    """Write to standard output at once."""
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def shows_several(options: TranslateOptions) -> bool:
    """Whether more than the text of one translation is asked for."""
    counts = (options.get("hypothesis_count"), options.get("alternative_count"))
    extras = (options.get("include_token_scores"), options.get("include_alignment"))
    return any(counts) or any(extras)


def show_hypotheses(translation: Translation) -> None:
    """Print all outputs for one text: score, tab, text; an empty line ends them."""
    for hypothesis in translation.hypotheses:
        write(f"{hypothesis.score:.4f}\t{hypothesis.text}\n")
        if hypothesis.tokens:
            write(token_table(hypothesis.tokens, hypothesis.alignment))
    write("\n")


def show_next_token(prediction: NextToken, prefix: str | None) -> None:
    """Print one prediction, under its prefix where one is given."""
    if prefix is not None:
        write(f"{prefix!r}\n")
    rows = [_row(rank, item) for rank, item in enumerate(prediction.candidates, start=1)]
    rows += [_row(item.rank, item) for item in prediction.queried]
    header = ("rank", "probability", "log-probability", "id", "piece")
    write(table(header, rows, right=4))
    write(f"entropy {prediction.entropy:.3f} nats\n")


def show_models(models: Iterable[Model]) -> None:
    """Print a table of models."""
    header = ("name", "languages", "precision", "tokens", "license")
    write(table(header, [_model_row(model) for model in models]))


def show_model(model: Model) -> None:
    """Print everything about one model."""
    write("".join(f"{line}\n" for line in _outline(model)))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: int = 0) -> str:
    """Text in columns two spaces apart; the first `right` of them end flush."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(f"{_line(line, widths, right)}\n" for line in lines)


def token_table(tokens: Sequence[OutputToken], alignment: Alignment | None) -> str:
    """The tokens of an output, and the source tokens that they look at most where that is known."""
    header = ["log-probability", "id", "piece"]
    rows = [[f"{each.log_probability:.4f}", str(each.token_id), each.piece] for each in tokens]
    if alignment is not None:
        linked = [alignment.source_tokens[place].piece for place in alignment.links]
        linked += [""] * (len(rows) - len(linked))
        header.append("source")
        rows = [[*row, piece] for row, piece in zip(rows, linked, strict=True)]
    return table(header, rows, right=2)


def _line(cells: Sequence[str], widths: Sequence[int], right: int) -> str:
    padded = (
        cell.rjust(width) if index < right else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def _row(rank: int, item: Candidate | QueriedToken) -> tuple[str, ...]:
    probability = f"{math.exp(item.log_probability):.2%}"
    return str(rank), probability, f"{item.log_probability:.4f}", str(item.token_id), item.piece


def _model_row(model: Model) -> tuple[str, ...]:
    languages = f"{model.source_language_code} -> {model.target_language_code}"
    vocabulary = str(model.vocabulary_size)
    return model.name, languages, model.precision, vocabulary, model.license


def _outline(value: object, indent: str = "") -> Iterator[str]:
    assert is_dataclass(value)
    for field in fields(value):
        content = getattr(value, field.name)
        label = f"{indent}{field.name.replace('_', ' ')}:"
        if is_dataclass(content):
            yield label
            yield from _outline(content, f"{indent}  ")
        elif isinstance(content, tuple):
            yield label
            for item in content:
                yield from _outline(item, f"{indent}  ")
                yield ""
        else:
            yield f"{label} {'not known' if content in (None, '') else content}"
