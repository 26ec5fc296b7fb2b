"""Who may know whom: the rules of CONTRIBUTING.md, read off the import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TORCH = {"torch", "onnx", "onnxscript", "onnx_ir", "safetensors", "sacrebleu"}
GRPC = {"grpc", "grpc_health", "grpc_reflection", "grpc_status", "google"}
RUNTIME = {"numpy", "onnxruntime", "sentencepiece"}

# Subpackage: the other subpackages of dragoman it may import, and what it must never import.
RULES: dict[str, tuple[set[str], set[str]]] = {
    "v1": (set(), TORCH | RUNTIME),
    "client": ({"v1"}, TORCH | RUNTIME),
    "engine": (set(), TORCH | GRPC),
    "server": ({"v1", "engine"}, TORCH),
    "transformer": (set(), GRPC | {"onnxruntime"}),
    "training": ({"transformer"}, GRPC | {"onnxruntime"}),
    "export": ({"transformer", "training", "engine", "client"}, {"grpc"}),
    "corpus": (set(), TORCH | GRPC | RUNTIME),
    "evaluation": ({"training", "client"}, {"grpc", "torch", "onnx", "onnxruntime"}),
}
CLOCKS = {"time", "datetime", "asyncio"}


def imports(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources(root: Path, subpackage: str) -> list[Path]:
    return sorted(root.glob(f"*/dragoman/{subpackage}/**/*.py"))


@pytest.mark.parametrize("subpackage", RULES)
def test_a_subpackage_knows_only_what_it_may(root: Path, subpackage: str) -> None:
    allowed, forbidden = RULES[subpackage]
    paths = sources(root, subpackage)
    assert paths
    for path in paths:
        for name in imports(path):
            top, *rest = name.split(".")
            where = f"{path.relative_to(root)} imports {name}"
            assert top not in forbidden, where
            assert top != "dragoman" or rest[0] in {subpackage, *allowed}, where


def test_the_scheduler_only_decides(root: Path) -> None:
    for path in root.glob("server/dragoman/engine/scheduler*.py"):
        tops = {name.split(".")[0] for name in imports(path)}
        assert not tops & (RUNTIME | CLOCKS), path
    assert list(root.glob("server/dragoman/engine/scheduler*.py"))
