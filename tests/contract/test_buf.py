"""The contract keeps its style and stays compatible with the released one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROTOS = Path(__file__).parents[2] / "protos"
BUF = Path(sys.executable).parent / "buf"


def buf(*arguments: str, folder: Path = PROTOS) -> tuple[int, str]:
    done = subprocess.run(
        [BUF, *arguments],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        env={"HOME": tempfile.gettempdir(), "BUF_CACHE_DIR": tempfile.gettempdir(), "PATH": ""},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the contract to spoil."""
    target = tmp_path / "protos"
    shutil.copytree(PROTOS, target, ignore=shutil.ignore_patterns("*.py*", "__pycache__"))
    return target


def replace(folder: Path, old: str, new: str) -> None:
    path = folder / "dragoman/v1/translation.proto"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_lint() -> None:
    assert buf("lint") == (0, "")


def test_format() -> None:
    assert buf("format", "--diff", "--exit-code") == (0, "")


def test_no_breaking_change_since_the_release() -> None:
    assert buf("breaking", "--against", "v1.binpb") == (0, "")


def test_a_missing_comment_is_found(copy: Path) -> None:
    replace(copy, "  // Why decoding ended.\n  FinishReason", "  FinishReason")
    code, output = buf("lint", folder=copy)
    assert code != 0
    assert 'Field "finish_reason" should have a non-empty comment' in output


def test_a_changed_number_is_found(copy: Path) -> None:
    replace(copy, "string text_delta = 1;", "string text_delta = 3;")
    code, output = buf("breaking", "--against", "v1.binpb", folder=copy)
    assert code != 0
    assert "text_delta" in output
