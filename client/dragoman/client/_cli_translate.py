"""What ``dragoman translate`` does with its texts, and how it tells which one was refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from dragoman.client._cli_output import show_hypotheses, write
from dragoman.client._lines import joined
from dragoman.client.client import Client
from dragoman.client.errors import InvalidArgumentError
from dragoman.client.options import TranslateOptions
from dragoman.client.results import FinishReason, Translation

_CONTENT = re.compile(r"contents?(?:\[(\d+)\])?(?=[ :])")


class Place:
    """Where among all texts the command is.

    Args:
        kind: what one of them is called, for messages.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._done = 0

    @contextmanager
    def of(self, count: int) -> Iterator[None]:
        """Translate the next `count` texts; a message about one of them gives its number.

        Raises:
            typer.TyperException: one was refused.
        """
        try:
            yield
        except InvalidArgumentError as error:
            found = _CONTENT.match(str(error))
            if found is None:
                raise
            number = self._done + int(found[1] or 0) + 1
            told = f"{self._kind} {number}{str(error)[found.end() :]}"
            raise typer.TyperException(told) from error
        self._done += count


def translate_lines(
    client: Client, lines: list[str], options: TranslateOptions, place: Place, *, several: bool
) -> list[Translation]:
    """Translate lines in one call and print their texts, or with `several` all outputs."""
    with place.of(len(lines)):
        translations = client.translate([line.removesuffix("\n") for line in lines], **options)
    if several:
        for translation in translations:
            show_hypotheses(translation)
    else:
        write(joined(lines, [translation.text for translation in translations]))
    if translations:
        _tell_seed(translations[0], options)
    for translation in translations:
        _warn(translation, options)
    return translations


def stream_lines(client: Client, lines: list[str], options: TranslateOptions, place: Place) -> None:
    """Translate one line after the other, and print each while it is being made."""
    for line in lines:
        body = line.removesuffix("\n")
        with place.of(1), client.stream(body, **options) as stream:
            for chunk in stream:
                write(chunk.text)
        write(line[len(body) :])
        _tell_seed(stream.result, options)
        _warn(stream.result, options)


def _tell_seed(translation: Translation, options: TranslateOptions) -> None:
    sampling = options.get("sampling")
    if sampling is not None and sampling.seed is None:
        typer.echo(f"dragoman: seed {translation.seed}", err=True)


def _warn(translation: Translation, options: TranslateOptions) -> None:
    if translation.finish_reason is FinishReason.LENGTH:
        count = translation.target_token_count
        typer.echo(f"dragoman: a translation was cut after {count} tokens", err=True)
    if translation.finish_reason is FinishReason.DEADLINE:
        typer.echo("dragoman: a translation was cut because its time was over", err=True)
    for term, result in zip(options.get("terms", ()), translation.term_results, strict=False):
        if result.met_line_count < result.source_line_count:
            typer.echo(f"dragoman: a translation of {term.source!r} is not as asked", err=True)
