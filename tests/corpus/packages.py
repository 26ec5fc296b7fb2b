"""Small Debian packages, written without Debian's tools, and a stand-in for reading them."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

import polib

HEADER = {
    "Content-Type": "text/plain; charset=UTF-8",
    "Plural-Forms": "nplurals=2; plural=(n != 1);",
}


def write_deb(
    folder: Path,
    package: str,
    files: Mapping[str, bytes],
    *,
    version: str = "1.0-1",
    section: str = "utils",
    source: str = "",
    templates: str = "",
    links: Mapping[str, str] | None = None,
) -> Path:
    """Write `folder/package_version_all.deb`."""
    control = f"Package: {package}\nVersion: {version}\nSection: {section}\nArchitecture: all\n"
    control += f"Source: {source}\n" if source else ""
    control += "Maintainer: Nobody <nobody@example.org>\nDescription: a test\n"
    own = {"control": control.encode()}
    if templates:
        own["templates"] = templates.encode()
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": _tar(own, {}),
        "data.tar.gz": _tar(files, links or {}),
    }
    path = folder / f"{package}_{version.replace(':', '%3a')}_all.deb"
    path.write_bytes(b"!<arch>\n" + b"".join(_ar(name, data) for name, data in members.items()))
    return path


def _tar(files: Mapping[str, bytes], links: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, target in links.items():
            member = tarfile.TarInfo(f"./{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return buffer.getvalue()


def _ar(name: str, data: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
    return header.encode() + data + b"\n" * (len(data) % 2)


def mo(*entries: polib.MOEntry, **header: str) -> bytes:
    """Return a compiled catalogue."""
    catalogue = polib.MOFile()
    catalogue.metadata = {**HEADER, **{key.replace("_", "-"): v for key, v in header.items()}}
    catalogue.extend(entries)
    return bytes(catalogue.to_binary())


def messages(pairs: Mapping[str, str]) -> bytes:
    """Return a compiled catalogue of plain messages."""
    return mo(*(polib.MOEntry(msgid=a, msgstr=b) for a, b in pairs.items()))


def zipped(text: str) -> bytes:
    """Return a text as manual pages are kept."""
    return gzip.compress(text.encode(), mtime=0)


def install_stand_in(folder: Path) -> None:
    """Put a `dpkg-deb` first on the path that reads what `write_deb` writes."""
    script = folder / "dpkg-deb"
    program = Path(__file__).with_name("dpkg_deb.py").read_text(encoding="utf-8")
    script.write_text(f"#!{sys.executable}\n{program}", encoding="utf-8")
    script.chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def have_dpkg_deb() -> bool:
    """Tell whether Debian's own tool is here."""
    return shutil.which("dpkg-deb") is not None
