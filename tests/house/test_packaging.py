"""One distribution, one namespace over four roots."""

from __future__ import annotations

import subprocess
import sys
from email import message_from_bytes
from email.message import Message
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import dragoman

ROOTS = ("protos", "server", "client", "export")
SUBPACKAGES = (
    "v1",
    "engine",
    "server",
    "client",
    "transformer",
    "training",
    "export",
    "evaluation",
    "corpus",
)


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*command, "--directory", str(folder)], cwd=root, check=True, capture_output=True
    )
    (path,) = folder.glob("*.whl")
    return ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(wheel.read(name))


def test_dragoman_is_a_namespace(root: Path) -> None:
    assert getattr(dragoman, "__file__", None) is None
    assert not list(root.glob("*/dragoman/__init__.py"))
    portions = {Path(path) for path in dragoman.__path__}
    assert portions >= {root / name / "dragoman" for name in ROOTS}


@pytest.mark.parametrize("name", SUBPACKAGES)
def test_each_subpackage_is_typed(name: str) -> None:
    module = import_module(f"dragoman.{name}")
    assert module.__file__ is not None
    assert (Path(module.__file__).parent / "py.typed").is_file()


def test_the_subpackages_are_all_there_are(root: Path) -> None:
    found = {path.parent.name for path in root.glob("*/dragoman/*/__init__.py")}
    assert found == set(SUBPACKAGES)


def test_the_wheel_holds_every_tracked_file_of_the_roots(
    wheel: ZipFile, root: Path, tracked: list[Path]
) -> None:
    expected = {
        str(path.relative_to(root / name))
        for name in ROOTS
        for path in tracked
        if path.is_relative_to(root / name / "dragoman")
    }
    assert expected <= set(wheel.namelist())


def test_the_wheel_holds_nothing_else(wheel: ZipFile) -> None:
    for name in wheel.namelist():
        top, second, *_ = name.split("/")
        assert top.endswith(".dist-info") or (top == "dragoman" and second in SUBPACKAGES), name
        assert "__pycache__" not in name


def test_the_wheel_holds_the_default_model(wheel: ZipFile) -> None:
    files = {name.rpartition("/")[2] for name in wheel.namelist() if "/models/en-de/" in name}
    graphs = {"encoder.onnx", "decoder.onnx", "weights.bin"}
    assert {"bundle.json", "tokenizer.model", "LICENSE", "ORIGINS.tsv", *graphs} <= files


def test_the_metadata_names_both_licences(metadata: Message) -> None:
    files = metadata.get_all("License-File", [])
    assert "LICENSE" in files
    assert "server/dragoman/server/models/en-de/LICENSE" in files
    assert metadata["License-Expression"] == "Apache-2.0 AND GPL-3.0-or-later"


def test_torch_is_an_extra_only(pyproject: dict[str, Any]) -> None:
    extras = pyproject["project"]["optional-dependencies"]
    light = (*pyproject["project"]["dependencies"], *extras["server"])
    assert not [entry for entry in light if entry.startswith(("torch", "onnx>", "onnxscript"))]
    assert "torch==2.13.0" in extras["export"]


def test_the_command_and_its_parts_are_registered() -> None:
    entries = distribution("dragoman").entry_points
    assert entries.select(group="console_scripts").names == {"dragoman"}
    assert entries.select(group="dragoman.commands").names >= {"serve", "train", "export"}
    for entry in entries.select(group="dragoman.commands"):
        assert callable(entry.load())
