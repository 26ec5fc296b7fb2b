"""A small archive in a folder, for apt."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

PLACE = "dists/test/main"


def write_archive(
    folder: Path,
    debs: Iterable[Path],
    fields: Mapping[str, str],
    translations: Mapping[str, str],
    contents: str,
) -> Path:
    """Write an archive of packages, translation indexes and lists of files.

    Returns the apt configuration that knows this archive alone, for the variable APT_CONFIG.
    """
    indexes = {f"main/i18n/Translation-{name}": text for name, text in translations.items()}
    indexes["main/Contents-amd64"] = contents
    indexes["main/binary-amd64/Packages"] = "\n".join(
        _record(folder, path, fields.get(path.name.partition("_")[0], "")) for path in debs
    )
    release = "Codename: test\nVersion: 1.2\nComponents: main\nArchitectures: amd64 all\n"
    release += "Date: Sat, 01 Jan 2022 00:00:00 UTC\nSHA256:\n"
    for name, text in indexes.items():
        path = folder / "dists/test" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        content = text.encode()
        release += f" {sha256(content).hexdigest()} {len(content)} {name}\n"
    (folder / "dists/test/Release").write_text(release)
    return _configuration(folder)


def _record(folder: Path, deb: Path, fields: str) -> str:
    pool = folder / "pool"
    pool.mkdir(parents=True, exist_ok=True)
    shutil.copy(deb, pool)
    content = deb.read_bytes()
    package, version, _ = deb.stem.split("_")
    return (
        f"Package: {package}\nVersion: {version}\nArchitecture: all\n{fields}"
        f"Filename: pool/{deb.name}\nSize: {len(content)}\nSHA256: {sha256(content).hexdigest()}\n"
        "Description: a test\n"
    )


def _configuration(folder: Path) -> Path:
    sources = folder / "sources.list"
    sources.write_text(f"deb [trusted=yes] file:{folder} test main\n")
    status = folder / "status"
    status.touch()
    path = folder / "apt.conf"
    path.write_text(
        f'Dir::Etc::SourceList "{sources}";\nDir::Etc::SourceParts "/dev/null";\n'
        f'Dir::State::Status "{status}";\n'
        'APT::Architecture "amd64";\nAPT::Architectures { "amd64"; };\n'
    )
    return path
