"""Reading parallel text: nothing bad is fatal, nothing is dropped without being counted."""

from __future__ import annotations

import gzip
import lzma
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

Source = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class Pair:
    """One source sentence, its translation, and where they come from ("" where unknown)."""

    source: str
    target: str
    origin: str = ""


def read_pairs(sources: tuple[Source, ...], rejected: Counter[str]) -> Iterator[Pair]:
    """Yield the usable pairs of all sources in order; count the others by reason in `rejected`.

    Reasons: "invalid UTF-8", "columns" (a TSV line without two), "empty side", "unaligned".

    Raises:
        OSError: A file cannot be read.
    """
    for source in sources:
        lines = _tsv(source, rejected) if isinstance(source, str) else _aligned(source, rejected)
        for pair in lines:
            if not pair.source or not pair.target:
                rejected["empty side"] += 1
                continue
            yield pair


def open_binary(path: str) -> BinaryIO:
    """Open a plain, .xz or .gz file for reading bytes."""
    match Path(path).suffix:
        case ".xz":
            return cast(BinaryIO, lzma.open(path))
        case ".gz":
            return cast(BinaryIO, gzip.open(path))
        case _:
            return Path(path).open("rb")


def _tsv(path: str, rejected: Counter[str]) -> Iterator[Pair]:
    with open_binary(path) as file:
        for line in file:
            text = _decode(line, rejected)
            if text is None:
                continue
            columns = text.split("\t")
            if len(columns) < 2:
                rejected["columns"] += 1
                continue
            origin = columns[2].strip() if len(columns) > 2 else ""
            yield Pair(columns[0].strip(), columns[1].strip(), origin)


def _aligned(paths: tuple[str, str], rejected: Counter[str]) -> Iterator[Pair]:
    with ExitStack() as stack:
        left, right = (stack.enter_context(open_binary(path)) for path in paths)
        for line in left:
            other = right.readline()
            if not other:
                rejected["unaligned"] += 1
                continue
            source, target = _decode(line, rejected), _decode(other, rejected)
            if source is not None and target is not None:
                yield Pair(source.strip(), target.strip(), Path(paths[0]).stem)
        rejected["unaligned"] += sum(1 for _ in right)


def _decode(line: bytes, rejected: Counter[str]) -> str | None:
    try:
        return line.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError:
        rejected["invalid UTF-8"] += 1
        return None
