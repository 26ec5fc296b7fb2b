"""`dragoman export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.engine import BundleError
from dragoman.export.bundle import Description
from dragoman.export.export import Checkpoint, Exporter
from dragoman.export.graphs import ExportError
from dragoman.export.precisions import Precision
from dragoman.training.errors import CheckpointError
from dragoman.transformer import ConfigError


def export(
    checkpoint: Annotated[Path, typer.Argument(help="Directory of a trained checkpoint.")],
    bundle: Annotated[Path, typer.Argument(help="Directory to write; an older one is replaced.")],
    dev: Annotated[
        Path | None, typer.Option(help="TSV of sentence pairs to certify int8 with.")
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="(default: int8 with --dev, fp32 without)")
    ] = None,
    cache_precision: Annotated[
        Precision, typer.Option(help="Of an int8 bundle's keys and values.")
    ] = "int8",
    name: Annotated[
        str | None, typer.Option(help="Name of the model (default: the bundle's directory).")
    ] = None,
    source_language: Annotated[
        str | None, typer.Option(help="BCP-47 code (default: the recipe's).")
    ] = None,
    target_language: Annotated[
        str | None, typer.Option(help="BCP-47 code (default: the recipe's).")
    ] = None,
    license: Annotated[  # noqa: A002 - the option's name
        Path | None, typer.Option(help="Licence text with an SPDX-License-Identifier line.")
    ] = None,
    origins: Annotated[
        Path | None, typer.Option(help="TSV: name, license, uri, sentence_pair_count.")
    ] = None,
) -> None:
    """Export a checkpoint as a bundle that has passed its checks."""
    try:
        loaded = Checkpoint.load(checkpoint)
        languages = loaded.facts.get("recipe", {}).get("data", {})
        description = Description(
            name=name or bundle.resolve().name,
            source_language_code=source_language or languages.get("source_language_code", ""),
            target_language_code=target_language or languages.get("target_language_code", ""),
            license=license,
            origins=origins,
        )
        chosen = precision or ("fp32" if dev is None else "int8")
        Exporter(loaded, description, typer.echo, cache_precision).write(bundle, chosen, dev)
    except (ExportError, CheckpointError, ConfigError, BundleError, OSError) as error:
        typer.echo(f"dragoman export: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"wrote {bundle}")
