"""Every module of the benchmarks can be imported, and every part explains itself."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import PARTS, Part

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
FOREIGN = ("ctranslate2", "optimum", "transformers")
"""Packages that only `make bench` installs."""


def module(path: Path) -> str:
    """Its name."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def imported(path: Path) -> set[str]:
    """The modules that a file imports at its top."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


FILES = {module(path): path for path in sorted((ROOT / "benchmarks").rglob("*.py"))}


def foreign_modules() -> set[str]:
    """The modules that can be imported only where the peers are installed."""
    foreign: set[str] = set()
    while True:
        found = {
            name
            for name, path in FILES.items()
            if any(each in foreign or each.split(".")[0] in FOREIGN for each in imported(path))
        }
        if found == foreign:
            return foreign
        foreign = found


@pytest.mark.parametrize("name", sorted(set(FILES) - foreign_modules()))
def test_a_module_imports_without_the_peers(name: str) -> None:
    import_module(name.removesuffix(".__init__"))


def test_only_the_peers_own_modules_need_them() -> None:
    assert foreign_modules() == {
        f"benchmarks.peers.{name}"
        for name in (
            "ctranslate2_engine",
            "ctranslate2_model",
            "optimum_engine",
            "transformers_engine",
            "transformers_model",
        )
    }


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_measures_and_explains_itself(part: Part) -> None:
    found = import_module(f"benchmarks.{part.name}")
    assert callable(found.measure)
    assert f"python -m benchmarks.{part.name}" in (found.__doc__ or "")
    assert part.name == "prepare" or f"`{part.name}`" in README


def test_the_peers_are_pinned() -> None:
    for name in ("requirements", "optimum"):
        lines = (ROOT / "benchmarks" / "peers" / f"{name}.txt").read_text().splitlines()
        packages = [line for line in lines if not line.startswith("#")]
        assert [line for line in packages if "==" not in line] in ([], ["certifi"])
        assert not [line for line in packages if line.startswith(("torch", "onnxruntime"))]
