"""Where packages and translation indexes come from: the archive, or a folder."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from dragoman.corpus.apt import Archive, Index, Record, read_lines
from dragoman.corpus.errors import RecipeError
from dragoman.corpus.locales import Locale


@dataclass(frozen=True, slots=True)
class Descriptions:
    """The translation indexes.

    Attributes:
        english: Lines of the English ones.
        translated: Lines of the other language's.
        sources: Source package by binary package, as far as it is known.
        release: Which release of the archive they belong to, "" if that is unknown.
    """

    english: Iterator[str]
    translated: Iterator[str]
    sources: dict[str, str]
    release: str


class Supply(Protocol):
    """What a corpus is built from."""

    notes: Counter[str]
    """What was asked for and is not there, counted."""

    def descriptions(self) -> Descriptions:
        """Open the translation indexes."""

    def packages(self, names: Sequence[str]) -> Iterator[Path]:
        """Yield .deb files."""


class ArchiveSupply:
    """Fetches from the archive; keeps what it fetched."""

    def __init__(self, archive: Archive, folder: Path) -> None:
        """Fetch packages into a folder. The archive's lists must be there."""
        self.notes: Counter[str] = Counter()
        self._archive = archive
        self._folder = folder
        self._records: dict[str, Record] = archive.records()

    def descriptions(self) -> Descriptions:
        """Open the archive's translation indexes."""
        indexes = self._archive.indexes("Translations")
        english = [index for index in indexes if index.language == "en"]
        others = [index for index in indexes if index.language != "en"]
        sources = {name: record.source for name, record in self._records.items()}
        release = others[0].release if others else ""
        return Descriptions(_lines(english), _lines(others), sources, release)

    def packages(self, names: Sequence[str]) -> Iterator[Path]:
        """Yield the packages' files, fetched as the walk goes on."""
        present = [name for name in names if name in self._records]
        self.notes["packages not in the archive"] += len(names) - len(present)
        fetched = 0
        for path in self._archive.download(present, self._folder):
            fetched += 1
            yield path
        self.notes["packages not fetched"] += len(present) - fetched

    def size(self, names: Sequence[str]) -> int:
        """Return the bytes of the packages' files."""
        return sum(self._records[name].size for name in names if name in self._records)


class FolderSupply:
    """Reads the .deb files of a folder, and the `Translation-*` indexes that lie there."""

    def __init__(self, folder: Path, target: Locale, sample: int | None = None) -> None:
        """Read all packages of a folder in the order of their names, or the first `sample`.

        Raises:
            RecipeError: There is no package in the folder.
        """
        self.notes: Counter[str] = Counter()
        self._folder = folder
        self._target = target
        self._paths = sorted(folder.glob("*.deb"))[:sample]
        if not self._paths:
            raise RecipeError(f"debs: no .deb file in {folder}")

    def descriptions(self) -> Descriptions:
        """Open the translation indexes of the folder."""
        english, translated = (self._index(name) for name in ("en", self._target.name))
        return Descriptions(english, translated, {}, "")

    def packages(self, names: Sequence[str]) -> Iterator[Path]:
        """Yield the folder's packages; the names are not asked."""
        del names
        yield from self._paths

    def _index(self, name: str) -> Iterator[str]:
        paths = [
            *self._folder.glob(f"*Translation-{name}"),
            *self._folder.glob(f"*Translation-{name}.*"),
        ]
        return chain.from_iterable(map(_open, sorted(paths)))


def _lines(indexes: list[Index]) -> Iterator[str]:
    return chain.from_iterable(read_lines(index.path) for index in indexes)


def _open(path: Path) -> list[str]:
    content = path.read_bytes()
    undo = {".xz": lzma.decompress, ".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix)
    return (undo(content) if undo else content).decode("utf-8", "replace").splitlines()
