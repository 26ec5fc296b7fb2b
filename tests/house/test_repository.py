"""What the checkout promises: one vocabulary, nothing of one machine, nothing unfinished."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house.processes import environment

WORDS = ("setup", "demo", "serve", "test", "lint", "format", "bench", "train", "clean", "help")
# Each is written so that it does not match itself.
MACHINE = ("/wor[k]/", "/var/tm[p]/", "/roo[t]/", "/hom[e]/(?!somebody/)", r"\.\./shared")
HOSTS = (r"pypi\.org", "pythonhoste[d]", r"npmjs\.", r"deb\.debian", "/opt/(pypi|wheels)")
UNFINISHED = ("TOD[O]", "FIXM[E]", r"mark\.skip", r"pytest\.skip", "xfai[l]")
# Texts of others: translations and licences may say anything.
LEFT_OUT = ("benchmarks/data/", "server/dragoman/server/models/")


def texts(root: Path, tracked: list[Path]) -> dict[str, str]:
    """The project's own tracked text files by name."""
    found = {}
    for path in tracked:
        name = str(path.relative_to(root))
        if name.startswith(LEFT_OUT):
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            found[name] = content.decode()
    return found


@pytest.mark.parametrize("pattern", [*MACHINE, *HOSTS])
def test_nothing_speaks_of_one_machine(root: Path, tracked: list[Path], pattern: str) -> None:
    assert [n for n, text in texts(root, tracked).items() if re.search(pattern, text)] == []


@pytest.mark.parametrize("pattern", UNFINISHED)
def test_nothing_is_unfinished(root: Path, tracked: list[Path], pattern: str) -> None:
    assert [n for n, text in texts(root, tracked).items() if re.search(pattern, text)] == []


def test_make_explains_each_word(root: Path) -> None:
    result = subprocess.run(
        ["make", "help"], cwd=root, env=environment(), check=True, capture_output=True, text=True
    )
    explained = {line.split()[1] for line in result.stdout.splitlines() if len(line.split()) > 2}
    assert explained == set(WORDS)
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert phony
    assert set(phony[1].split()) == set(WORDS)


def test_ci_runs_the_words_of_the_readme(root: Path) -> None:
    commands = (root / ".ci" / "run").read_text().splitlines()
    assert [line for line in commands if line.startswith("make")] == ["make lint", "make test"]
    assert "make test" in (root / "README.md").read_text()
    assert (root / ".ci" / "run").stat().st_mode & 0o111


def test_hooks_download_nothing(root: Path) -> None:
    settings: dict[str, Any] = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())
    for repository in settings["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert hook["language"] == "system"
            assert hook["entry"].startswith("make ")


def test_each_tests_folder_mirrors_a_subpackage(root: Path) -> None:
    folders = {path.parent.name for path in root.glob("tests/*/test_*.py")}
    packages = {path.parent.name for path in root.glob("*/dragoman/*/__init__.py")} - {"v1"}
    assert packages <= folders
