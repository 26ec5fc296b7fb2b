"""The command line: ``dragoman translate``, ``next``, ``score``, ``models``, ``health``, and more.

Results go to standard output in UTF-8, errors to standard error, each in one line. Exit codes: 0
for success, 1 for a failure, 2 for a wrong use or a missing extra, 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from io import BufferedIOBase
from pathlib import Path
from typing import Annotated, cast

import typer

from dragoman.client import _attention, _plugins
from dragoman.client._cli_decoding import decoded
from dragoman.client._cli_options import connected
from dragoman.client._cli_output import (
    show_model,
    show_models,
    show_next_token,
    shows_several,
    token_table,
    write,
)
from dragoman.client._cli_translate import Place, stream_lines, translate_lines
from dragoman.client._lines import batches
from dragoman.client.client import Client
from dragoman.client.errors import DragomanError
from dragoman.client.options import TranslateOptions
from dragoman.client.results import ServingStatus
from dragoman.v1.limits import DEFAULT_TOP_K

HEALTH_TIMEOUT = 5.0
"""Seconds that ``dragoman health`` waits unless it is told otherwise."""

app = typer.Typer(
    name="dragoman",
    help="Translate with trained Transformers over gRPC.",
    add_completion=False,
    invoke_without_command=True,
    context_settings={"help_option_names": _plugins.HELP_OPTIONS},
)


@app.callback()
def dragoman(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.")
    ] = False,
) -> None:
    """Translate with trained Transformers over gRPC."""
    if show_version:
        write(f"dragoman {version('dragoman')}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        write(f"{context.get_help()}\n")


@app.command("translate")
@connected()
@decoded
def translate(
    client: Client,
    options: TranslateOptions,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="What to translate; the lines of standard input by default."),
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Show each translation while it is being made.")
    ] = False,
    attention: Annotated[
        Path | None,
        typer.Option(
            help="Draw what the tokens of the translation of one text look at: .png, .svg or .pdf. "
            "Needs the extra 'export'."
        ),
    ] = None,
) -> None:
    """Translate texts, or standard input line by line, keeping its lines as they are."""
    several = shows_several(options)
    if stream and several:
        raise typer.BadParameter("--stream shows one translation, without scores")
    if attention is not None:
        if stream or texts is None or len(texts) != 1:
            raise typer.BadParameter("--attention draws the translation of one text")
        _attention.check(attention)
        options = {**options, "include_alignment": True}
    sources = (
        batches(cast(BufferedIOBase, sys.stdin.buffer))
        if texts is None
        else [[f"{text}\n" for text in texts]]
    )
    place = Place("line" if texts is None else "text")
    for lines in sources:
        if stream:
            stream_lines(client, lines, options, place)
        else:
            found = translate_lines(client, lines, options, place, several=several)
            if attention is not None:
                _attention.draw(found[0], attention)


@app.command("next")
@connected()
def next_token(
    client: Client,
    text: Annotated[str, typer.Argument(help="The source, a single line.")],
    prefix: Annotated[
        list[str] | None,
        typer.Option(help="What the translation has so far; may be repeated."),
    ] = None,
    top_k: Annotated[int, typer.Option(help="How many tokens to show, 1 to 100.")] = DEFAULT_TOP_K,
    query: Annotated[
        list[int] | None, typer.Option(help="The id of a token to show besides; may be repeated.")
    ] = None,
) -> None:
    """Show what the model would write next."""
    prefixes = prefix or [""]
    for index, prediction in enumerate(
        client.next_token(text, prefixes, top_k, queried=query or ())
    ):
        show_next_token(prediction, prefixes[index] if len(prefixes) > 1 else None)


@app.command("score")
@connected()
def score(
    client: Client,
    text: Annotated[str, typer.Argument(help="The source, a single line.")],
    translations: Annotated[
        list[str], typer.Argument(help="Translations of it, each a single line.")
    ],
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Show the tokens and their log-probabilities.")
    ] = False,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Show what each token looks at; so it shows them.")
    ] = False,
) -> None:
    """Show how probable given translations are, in their order."""
    scores = client.score(text, translations, include_alignment=alignment)
    for translation, found in zip(translations, scores, strict=True):
        write(f"{found.log_probability:.4f}\t{translation}\n")
        if tokens or alignment:
            write(token_table(found.tokens, found.alignment))


@app.command("models")
@connected(without="model")
def models(
    client: Client,
    name: Annotated[
        str | None, typer.Argument(help="The model to tell all about; a list by default.")
    ] = None,
) -> None:
    """List the models of the server, or tell all about one."""
    if name is None:
        show_models(client.models())
    else:
        show_model(client.model(name))


@app.command("health")
@connected(without="model", timeout=HEALTH_TIMEOUT)
def health(
    client: Client,
    service: Annotated[
        str, typer.Option(help="Full name of one service; the whole server by default.")
    ] = "",
) -> None:
    """Exit with 0 if the server answers calls, with 1 if not."""
    status = client.health(service)
    write(f"{status}\n")
    if status is not ServingStatus.SERVING:
        raise typer.Exit(1)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        _plugins.register(app)
        code = app(arguments, prog_name="dragoman", standalone_mode=False)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except (DragomanError, OSError) as error:
        return _fail(str(error), 1)
    except typer.Abort:
        return 130
    except Exception as error:
        if os.environ.get("DRAGOMAN_DEBUG"):
            raise
        name = type(error).__name__
        return _fail(f"{name}: {error} (DRAGOMAN_DEBUG=1 shows where it arose)", 1)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    typer.echo(f"dragoman: {' '.join(message.split())}", err=True)
    return code
