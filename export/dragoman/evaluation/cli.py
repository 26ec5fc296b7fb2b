"""``dragoman evaluate``: measures a served model on a test set."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dragoman.client import AsyncClient, DragomanError, TranslateOptions
from dragoman.client._cli_options import Connection, connecting
from dragoman.evaluation.bars import Bars
from dragoman.evaluation.comparison import Comparison, compare
from dragoman.evaluation.errors import EvaluationError
from dragoman.evaluation.rendering import card as model_card
from dragoman.evaluation.rendering import show
from dragoman.evaluation.report import report
from dragoman.evaluation.results import Evaluation, Result, read_baseline, write_results
from dragoman.evaluation.sentences import EvaluationSet, read_evaluation_set
from dragoman.evaluation.serving import serving
from dragoman.evaluation.translating import Decoding, Output, Speed, translate_all

_PLAIN_WIDTH = 160
_REQUEST_SECONDS = 300.0


@connecting(timeout=_REQUEST_SECONDS)
def evaluate(
    connection: Connection,
    test: Annotated[
        Path,
        typer.Argument(help="TSV of source, reference and, optionally, domain|origin|document."),
    ],
    bundle: Annotated[
        Path | None,
        typer.Option(help="Start a server of its own for this bundle, and stop it afterwards."),
    ] = None,
    beam_size: Annotated[
        list[int],
        typer.Option(
            min=1, max=16, help="Outputs searched side by side; repeated: one after the other."
        ),
    ] = [1],  # noqa: B006  (typer copies it)
    max_output_tokens: Annotated[
        int | None, typer.Option(help="The most tokens of a translation.")
    ] = None,
    sentences: Annotated[
        int | None, typer.Option(min=1, help="Take only so many sentences, the first ones.")
    ] = None,
    requests: Annotated[
        int, typer.Option(min=1, max=1024, help="Requests under way at the same time.")
    ] = 64,
    json: Annotated[
        Path | None, typer.Option(help="Write figures and translations to this file.")
    ] = None,
    card: Annotated[
        Path | None, typer.Option(help="Write a model card in Markdown to this file.")
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="What --json wrote of another model: show the differences from it."),
    ] = None,
    max_loss: Annotated[
        float | None,
        typer.Option(min=0, help="Fail if more points of BLEU or chrF than these are lost by it."),
    ] = None,
    max_domain_loss: Annotated[
        float | None, typer.Option(min=0, help="The same, in any domain.")
    ] = None,
) -> None:
    """Translate a test set through a server and measure what comes out.

    Scores (sacreBLEU, chrF), defects and what survives, over all and per domain. The exit status
    is 1 where it cannot be measured, or more is lost than --max-loss and --max-domain-loss allow.
    """
    bars = Bars(max_loss, max_domain_loss)
    if bars.is_set and baseline is None:
        raise typer.BadParameter("--max-loss and --max-domain-loss need a --baseline")
    if bundle is not None and connection.tls is not None:
        raise typer.BadParameter("--bundle starts a server without TLS, on this machine only")
    decodings = tuple(_decoding(size, max_output_tokens) for size in dict.fromkeys(beam_size))
    try:
        _check_folders(json, card)
        texts = read_evaluation_set(test, sentences)
        earlier = None if baseline is None else read_baseline(baseline, texts)
        with nullcontext(connection.address) if bundle is None else serving(bundle) as where:
            client = replace(connection, address=where).async_client()
            evaluation = asyncio.run(_run(client, texts, decodings, requests))
        comparisons = tuple(
            compare(texts, result, earlier) for result in evaluation.results if earlier is not None
        )
        _publish(evaluation, comparisons, bars, json, card)
    except (EvaluationError, DragomanError, OSError) as error:
        typer.echo(f"dragoman evaluate: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as stop:
        raise typer.Exit(130) from stop
    broken = bars.broken(comparisons)
    for line in broken:
        typer.echo(f"dragoman evaluate: {line}", err=True)
    if broken:
        raise typer.Exit(1)


def _decoding(beam_size: int, max_output_tokens: int | None) -> Decoding:
    options: TranslateOptions = {"beam_size": beam_size}
    if max_output_tokens is not None:
        options["max_output_tokens"] = max_output_tokens
    return Decoding("greedy" if beam_size == 1 else f"beam {beam_size}", options)


def _check_folders(*paths: Path | None) -> None:
    """Refuse what could not be written, before the work and not after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise EvaluationError(f"{path}: there is no folder {path.parent}")


async def _run(
    client: AsyncClient, texts: EvaluationSet, decodings: Sequence[Decoding], requests: int
) -> Evaluation:
    async with client:
        model = await client.model()
        results = [
            Result.of(texts, decoding, *await _translate(client, texts, decoding, requests))
            for decoding in decodings
        ]
    return Evaluation(model, texts, tuple(results))


async def _translate(
    client: AsyncClient, texts: EvaluationSet, decoding: Decoding, requests: int
) -> tuple[list[Output], Speed]:
    console = Console(stderr=True)
    columns = (
        TextColumn(str(decoding)),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(texts))
        return await translate_all(
            client, texts.sources, decoding, requests, lambda: progress.advance(task)
        )


def _publish(
    evaluation: Evaluation,
    comparisons: tuple[Comparison, ...],
    bars: Bars,
    json: Path | None,
    card: Path | None,
) -> None:
    told = report(evaluation, comparisons, bars)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_PLAIN_WIDTH)
    show(told, console)
    if json is not None:
        values = evaluation.to_dict()
        if comparisons:
            values["comparisons"] = [comparison.to_dict() for comparison in comparisons]
        write_results(json, values)
    if card is not None:
        card.write_text(model_card(told), encoding="utf-8")
