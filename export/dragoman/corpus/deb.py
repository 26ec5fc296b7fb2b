"""Opening Debian packages with dpkg-deb; nothing is unpacked onto the disk."""

from __future__ import annotations

import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from dragoman.corpus.deb822 import paragraphs
from dragoman.corpus.errors import ArchiveError, PackageError

MAX_FILE_BYTES = 64 << 20
"""Larger files are no texts."""


@dataclass(frozen=True, slots=True)
class Control:
    """What a package says about itself.

    Attributes:
        package: Name of the binary package.
        version: Version of the binary package.
        source: Name of the source package.
        section: Section of the archive without its area, as "games".
        templates: debconf's templates, "" where there are none.
    """

    package: str
    version: str
    source: str
    section: str
    templates: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a package.

    Attributes:
        name: Path without leading slash.
        content: The bytes, gzip undone; empty for a link.
        link: Where a symbolic link leads, "" for a regular file.
    """

    name: str
    content: bytes
    link: str = ""


def read_control(path: Path) -> Control:
    """Read the control part of a .deb.

    Raises:
        PackageError: The file is not a Debian package.
        ArchiveError: dpkg-deb is not installed.
    """
    parts = {"control": "", "templates": ""}
    with _tar("--ctrl-tarfile", path) as tar:
        for member in _members(tar, parts.__contains__):
            parts[member.name] = member.content.decode("utf-8", "replace")
    fields = next(paragraphs(parts["control"].splitlines()), {})
    if not fields.get("package") or not fields.get("version"):
        raise PackageError(f"{path}: the control file names no package and version")
    return Control(
        fields["package"],
        fields["version"],
        fields.get("source", fields["package"]).split()[0],
        fields.get("section", "").rpartition("/")[2],
        parts["templates"],
    )


def read_members(path: Path, wanted: Callable[[str], object]) -> Iterator[Member]:
    """Yield the wanted regular files and symbolic links of a .deb, in its order.

    Raises:
        PackageError: The file is not a Debian package.
        ArchiveError: dpkg-deb is not installed.
    """
    with _tar("--fsys-tarfile", path) as tar:
        yield from _members(tar, wanted)


def _members(tar: tarfile.TarFile, wanted: Callable[[str], object]) -> Iterator[Member]:
    for member in tar:
        name = member.name.removeprefix("./")
        if member.size > MAX_FILE_BYTES or not wanted(name):
            continue
        if member.issym():
            yield Member(name, b"", member.linkname)
        elif member.isfile():
            content = cast(IO[bytes], tar.extractfile(member)).read()
            yield Member(name, _gunzip(content) if name.endswith(".gz") else content)


def _gunzip(content: bytes) -> bytes:
    try:
        return zlib.decompress(content, wbits=31)
    except zlib.error:
        return b""


@contextmanager
def _tar(part: str, path: Path) -> Iterator[tarfile.TarFile]:
    command = ["dpkg-deb", part, str(path)]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise ArchiveError("dpkg-deb is not installed (Debian's package dpkg)") from error
    with process:
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
                yield tar
        except (tarfile.TarError, EOFError) as error:
            raise PackageError(f"{path}: not a Debian package, or broken") from error
        finally:
            process.kill()
