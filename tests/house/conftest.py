"""What the tests of the house share: the checkout itself."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tracked(root: Path) -> list[Path]:
    """Every file that git holds and that is still there."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    )
    paths = (root / name for name in listing.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


@pytest.fixture(scope="session")
def pyproject(root: Path) -> dict[str, Any]:
    """The parsed ``pyproject.toml``."""
    return tomllib.loads((root / "pyproject.toml").read_text())
