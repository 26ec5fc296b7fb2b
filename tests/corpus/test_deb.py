"""Packages: control part, files, links, and what is no package."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.corpus.deb import Control, read_control, read_members
from dragoman.corpus.errors import ArchiveError, PackageError
from tests.corpus.packages import write_deb, zipped


def test_control_and_templates(tmp_path: Path) -> None:
    path = write_deb(
        tmp_path,
        "hello",
        {},
        version="2:1.0-1",
        section="contrib/games",
        source="hello-source (1.0-1)",
        templates="Template: hello/ask\n",
    )
    expected = Control("hello", "2:1.0-1", "hello-source", "games", "Template: hello/ask\n")
    assert read_control(path) == expected


def test_the_source_is_the_package_where_none_is_named(tmp_path: Path) -> None:
    assert read_control(write_deb(tmp_path, "hello", {})) == Control(
        "hello", "1.0-1", "hello", "utils"
    )


def test_wanted_files_come_unzipped_and_links_lead_on(tmp_path: Path) -> None:
    path = write_deb(
        tmp_path,
        "hello",
        {"usr/a.gz": zipped("text"), "usr/b": b"plain", "usr/c": b"unwanted"},
        links={"usr/d": "../b"},
    )
    found = {m.name: (m.content, m.link) for m in read_members(path, lambda name: name != "usr/c")}
    assert found == {"usr/a.gz": (b"text", ""), "usr/b": (b"plain", ""), "usr/d": (b"", "../b")}


def test_a_broken_gzip_is_empty(tmp_path: Path) -> None:
    path = write_deb(tmp_path, "hello", {"usr/a.gz": b"no gzip"})
    assert [member.content for member in read_members(path, bool)] == [b""]


@pytest.mark.parametrize("content", [b"", b"no package", b"!<arch>\n"])
def test_what_is_no_package_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.deb"
    path.write_bytes(content)
    with pytest.raises(PackageError, match=r"broken\.deb"):
        read_control(path)
    with pytest.raises(PackageError, match=r"broken\.deb"):
        list(read_members(path, bool))


def test_a_control_file_without_names_is_no_package(tmp_path: Path) -> None:
    path = write_deb(tmp_path, "", {})
    with pytest.raises(PackageError, match="names no package"):
        read_control(path)


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_deb(tmp_path, "hello", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArchiveError, match="dpkg-deb is not installed"):
        read_control(path)
