"""Debian's archive through apt-get, with a state directory of our own: any user may run it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.corpus.deb822 import paragraphs
from dragoman.corpus.errors import ArchiveError
from dragoman.corpus.locales import Locale

BATCH = 40
"""Packages a call of apt-get."""
HELPER = "/usr/lib/apt/apt-helper"


@dataclass(frozen=True, slots=True)
class Index:
    """A file of the archive's lists.

    Attributes:
        path: Where apt keeps it, perhaps compressed.
        language: Of a translation index, "" otherwise.
        release: Code name and version of the release, "bookworm 12.1".
    """

    path: Path
    language: str
    release: str


@dataclass(frozen=True, slots=True)
class Record:
    """What the archive says about a binary package; `size` is that of the download in bytes."""

    package: str
    source: str
    section: str
    size: int
    asks: bool
    """Whether it depends on debconf, so that it probably asks questions."""


class Archive:
    """The archive that this machine's apt sources name.

    Attributes:
        state: The directory of lists and caches.
    """

    def __init__(self, state: Path, target: Locale, *, contents: bool = False) -> None:
        """Prepare for English and one other language.

        Args:
            state: A directory for apt's lists and caches, made if need be.
            target: The other language of translation indexes.
            contents: Fetch the lists of all packages' files too (50 MB).
        """
        self.state = state.absolute()
        self._options = _options(self.state, target, contents)

    def update(self) -> None:
        """Fetch the lists, or those that have changed since.

        Raises:
            ArchiveError: apt-get is missing or failed.
        """
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        self._run("update", "-qq")

    def indexes(self, kind: str) -> list[Index]:
        """Return the fetched lists of a kind: "Packages", "Translations" or "Contents-deb"."""
        form = "$(FILENAME)\t$(LANGUAGE)\t$(CODENAME) $(VERSION)"
        output = self._run("indextargets", "--format", form, f"Created-By: {kind}")
        rows = [line.split("\t") for line in output.splitlines()]
        return [
            Index(Path(name), "" if "$" in language else language, release.partition(" $")[0])
            for name, language, release in rows
            if Path(name).exists()
        ]

    def records(self) -> dict[str, Record]:
        """Return what the archive says about each package, by name."""
        return {
            record.package: record
            for index in self.indexes("Packages")
            for record in map(_record, paragraphs(read_lines(index.path)))
        }

    def download(self, names: Sequence[str], folder: Path) -> Iterator[Path]:
        """Yield the packages' .deb files, fetched in batches; those already there are kept.

        A package that cannot be fetched is left out.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for start in range(0, len(names), BATCH):
            batch = names[start : start + BATCH]
            missing = [name for name in batch if _found(folder, name) is None]
            if missing:
                self._run("download", "-qq", *missing, cwd=folder, check=False)
            yield from (path for name in batch if (path := _found(folder, name)) is not None)

    def _run(self, *words: str, cwd: Path | None = None, check: bool = True) -> str:
        command = ["apt-get", *self._options, *words]
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise ArchiveError("apt-get is not installed: this needs Debian's archive") from error
        if check and done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ArchiveError(f"apt-get {words[0]} failed: {reason}")
        return done.stdout


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a list in whatever compression apt keeps it.

    Raises:
        ArchiveError: apt cannot read the file.
    """
    command = [HELPER, "cat-file", str(path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        yield from process.stdout
    if process.returncode:
        raise ArchiveError(f"{path}: apt-helper cannot read it")


def _options(state: Path, target: Locale, contents: bool) -> list[str]:
    settings = {
        "Dir::State::Lists": f"{state}/lists",
        "Dir::Cache": f"{state}/cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": f"en,{target.name}",
    }
    if contents:
        name = "Contents-$(ARCHITECTURE)"
        settings |= {
            f"Acquire::IndexTargets::deb::Contents-deb::{key}": value
            for key, value in {
                "MetaKey": f"$(COMPONENT)/{name}",
                "ShortDescription": name,
                "Description": f"$(RELEASE)/$(COMPONENT) {name}",
                "KeepCompressed": "true",
                "DefaultEnabled": "true",
            }.items()
        }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _record(fields: dict[str, str]) -> Record:
    package = fields.get("package", "")
    depends = f"{fields.get('depends', '')}, {fields.get('pre-depends', '')}"
    return Record(
        package,
        fields.get("source", package).partition(" ")[0],
        fields.get("section", "").rpartition("/")[2],
        int(fields.get("size", "0")),
        "debconf-2.0" in depends,
    )


def _found(folder: Path, name: str) -> Path | None:
    return max(folder.glob(f"{name}_*.deb"), default=None)
