"""Lines of standard input in batches: those of a file many at a time, typed ones as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BufferedIOBase

import typer

BATCH_LINES = 64
"""The most lines in one batch: enough to fill a server, few enough to see progress."""

_READ_BYTES = 65536


def batches(source: BufferedIOBase) -> Iterator[list[str]]:
    """Read a stream to its end.

    Returns:
        Lists of 1 to 64 lines, each with the line feed that ends it, the last line perhaps
        without. Joined, they are the stream.

    Raises:
        typer.TyperException: a line is not UTF-8; those before it have been returned.
    """
    number = 0
    for lines in _complete_lines(source):
        for start in range(0, len(lines), BATCH_LINES):
            decoded: list[str] = []
            for line in lines[start : start + BATCH_LINES]:
                number += 1
                try:
                    decoded.append(line.decode())
                except UnicodeDecodeError:
                    if decoded:
                        yield decoded
                    raise typer.TyperException(f"line {number} is not UTF-8") from None
            yield decoded


def joined(lines: Sequence[str], translations: Sequence[str]) -> str:
    """The translations with the line ends of the lines that they belong to."""
    pairs = zip(lines, translations, strict=True)
    return "".join(text + "\n" * line.endswith("\n") for line, text in pairs)


def _complete_lines(source: BufferedIOBase) -> Iterator[list[bytes]]:
    rest = b""
    while received := source.read1(_READ_BYTES):
        *lines, rest = (rest + received).split(b"\n")
        if lines:
            yield [line + b"\n" for line in lines]
    if rest:
        yield [rest]
