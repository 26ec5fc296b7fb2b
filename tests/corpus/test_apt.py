"""Fetching from an archive: a small one of our own, with the real apt-get."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dragoman.corpus.apt import Archive, Record, read_lines
from dragoman.corpus.discover import discover
from dragoman.corpus.errors import ArchiveError
from dragoman.corpus.locales import Locale
from dragoman.corpus.supply import ArchiveSupply
from tests.corpus.archive import write_archive
from tests.corpus.packages import messages, write_deb

GERMAN = Locale("de")
CONTENTS = "usr/share/locale/de/LC_MESSAGES/hello.mo utils/hello\n"
HAVE_APT = shutil.which("apt-get") is not None


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """An archive of two packages, its lists fetched where apt-get is there to do it."""
    (tmp_path / "debs").mkdir()
    catalogue = {"usr/share/locale/de/LC_MESSAGES/hello.mo": messages({"Open": "Öffnen"})}
    debs = [write_deb(tmp_path / "debs", name, catalogue) for name in ("hello", "ask")]
    configuration = write_archive(
        tmp_path / "archive",
        debs,
        {
            "hello": "Source: greetings (2)\nSection: contrib/utils\n",
            "ask": "Depends: debconf (>= 0.5) | debconf-2.0\n",
        },
        {"en": "Package: hello\n", "de": "Package: hello\n", "fr": "Package: hello\n"},
        CONTENTS,
    )
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    return Archive(tmp_path / "state", GERMAN, contents=True)


def test_without_apt_the_reason_is_named(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArchiveError, match="apt-get is not installed"):
        archive.update()


def test_a_failure_of_apt_is_told(archive: Archive, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "archive" / "dists")
    with pytest.raises(ArchiveError, match=r"apt-get (update failed: E: |is not installed)"):
        archive.update()


def test_an_archive_is_read(archive: Archive, tmp_path: Path) -> None:
    if not HAVE_APT:
        with pytest.raises(ArchiveError):
            archive.update()
        return
    archive.update()
    size = (tmp_path / "debs" / "hello_1.0-1_all.deb").stat().st_size
    records = archive.records()
    assert records["hello"] == Record("hello", "greetings", "utils", size, False)
    assert records["ask"].asks
    translations = {index.language: index for index in archive.indexes("Translations")}
    assert translations.keys() == {"en", "de"}
    assert translations["de"].release == "test 1.2"
    (contents,) = archive.indexes("Contents-deb")
    assert list(read_lines(contents.path)) == [CONTENTS]
    recipe = discover(archive, Locale("en"), GERMAN)
    assert recipe.packages["ui"] == ("hello",)
    assert recipe.packages["debconf"] == ("ask",)


def test_packages_are_fetched_once(archive: Archive, tmp_path: Path) -> None:
    if not HAVE_APT:
        with pytest.raises(ArchiveError):
            list(archive.download(["hello"], tmp_path / "fetched"))
        return
    archive.update()
    supply = ArchiveSupply(archive, tmp_path / "fetched")
    names = ["ask", "nowhere", "hello"]
    for _ in range(2):
        paths = list(supply.packages(names))
        assert [path.name for path in paths] == ["ask_1.0-1_all.deb", "hello_1.0-1_all.deb"]
        shutil.rmtree(tmp_path / "archive" / "pool", ignore_errors=True)
    assert supply.notes["packages not in the archive"] == 2
    assert supply.notes["packages not fetched"] == 0
    assert supply.size(names) == sum(path.stat().st_size for path in paths)
    shutil.rmtree(tmp_path / "fetched")
    assert list(supply.packages(["hello"])) == []
    assert supply.notes["packages not fetched"] == 1
    descriptions = supply.descriptions()
    assert (descriptions.release, descriptions.sources["hello"]) == ("test 1.2", "greetings")
    assert list(descriptions.english) == list(descriptions.translated) == ["Package: hello\n"]


def test_a_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises((ArchiveError, FileNotFoundError)):
        list(read_lines(tmp_path / "nothing"))
