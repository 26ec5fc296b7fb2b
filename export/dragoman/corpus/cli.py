"""`dragoman corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.corpus.apt import Archive
from dragoman.corpus.build import Corpus
from dragoman.corpus.build import build as build_corpus
from dragoman.corpus.discover import discover
from dragoman.corpus.errors import CorpusError
from dragoman.corpus.locales import parse_pair
from dragoman.corpus.recipe import Recipe, committed_recipe, load_recipe
from dragoman.corpus.supply import ArchiveSupply, FolderSupply

app = typer.Typer(
    name="corpus",
    help="Parallel text out of a Debian archive.",
    no_args_is_help=True,
    add_completion=False,
)

PairArgument = Annotated[str, typer.Argument(metavar="PAIR", help="English and a language: en-de.")]


@app.command()
def build(
    pair: PairArgument,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Build from so many of the packages.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Directory to write (default: corpus/PAIR).")
    ] = None,
    packages: Annotated[
        Path | None,
        typer.Option(help="A recipe (.toml), or a list of packages, one a line."),
    ] = None,
    debs: Annotated[
        Path | None,
        typer.Option(help="Read the .deb files of this directory and fetch nothing."),
    ] = None,
) -> None:
    """Build train, dev and test sets with a manifest of their origins.

    Packages and lists are fetched once into the output directory, with apt-get. Without a recipe
    for the pair its packages are found in the archive's lists of files.
    """
    try:
        folder = output or Path("corpus") / pair
        if debs is not None:
            corpus = _from_folder(pair, folder, debs, sample)
        else:
            corpus = _from_archive(pair, folder, packages, sample)
        show(corpus, folder)
    except (CorpusError, OSError) as error:
        typer.echo(f"dragoman corpus: {error}", err=True)
        raise typer.Exit(1) from error


@app.command("packages")
def list_packages(
    pair: PairArgument,
    output: Annotated[
        Path | None, typer.Option(help="File to write (default: standard output).")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Directory of apt's lists (default: corpus/PAIR/apt).")
    ] = None,
) -> None:
    """Find the packages that are translated into a language, as a recipe for `build`."""
    try:
        _, target = parse_pair(pair)
        recipe = _discovered(pair, state or Path("corpus") / pair / "apt")
        text = f"# Translations into {target.code} in Debian, the richest packages first.\n"
        text += recipe.toml()
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")
    except (CorpusError, OSError) as error:
        typer.echo(f"dragoman corpus: {error}", err=True)
        raise typer.Exit(1) from error


def show(corpus: Corpus, folder: Path) -> None:
    """Print the counts."""
    typer.echo(corpus.ledger.table())
    typer.echo("")
    for note, count in sorted(corpus.notes.items()):
        if count:
            typer.echo(f"{note}: {count:,}")
    typer.echo(f"written: {folder}")


def _from_folder(pair: str, folder: Path, debs: Path, sample: int | None) -> Corpus:
    recipe = Recipe(*parse_pair(pair), {})
    return build_corpus(recipe, FolderSupply(debs, recipe.target, sample), folder, _progress)


def _from_archive(pair: str, folder: Path, packages: Path | None, sample: int | None) -> Corpus:
    state = folder / "apt"
    recipe = load_recipe(packages, pair) if packages else committed_recipe(pair)
    if recipe is None:
        _progress(f"no recipe for {pair}: looking through the archive's lists of files")
        recipe = _discovered(pair, state)
    if sample is not None:
        recipe = recipe.sample(sample)
    archive = Archive(state, recipe.target)
    archive.update()
    supply = ArchiveSupply(archive, folder / "packages")
    names = recipe.names()
    _progress(f"{len(names):,} packages, {supply.size(names) / 1e6:,.0f} MB")
    return build_corpus(recipe, supply, folder, _progress)


def _discovered(pair: str, state: Path) -> Recipe:
    source, target = parse_pair(pair)
    archive = Archive(state, target, contents=True)
    archive.update()
    return discover(archive, source, target)


def _progress(text: str) -> None:
    typer.echo(text, err=True)
