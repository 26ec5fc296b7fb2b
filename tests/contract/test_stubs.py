"""The committed stubs are those that the ``.proto`` files and the pinned generator give."""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from dragoman.v1 import model_pb2, translation_pb2

PROTOS = Path(__file__).parents[2] / "protos"


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    return runpy.run_path(str(PROTOS / "generate.py"))


def test_the_stubs_are_up_to_date(generator: dict[str, Any], tmp_path: Path) -> None:
    generate: Callable[[Path], list[Path]] = generator["generate"]
    made = generate(tmp_path)
    committed = sorted(PROTOS.glob("dragoman/v1/*_pb2*.py*"))
    assert [path.relative_to(tmp_path) for path in made] == [
        path.relative_to(PROTOS) for path in committed
    ]
    for new, old in zip(made, committed, strict=True):
        assert new.read_text() == old.read_text(), f"run protos/generate.py: {old.name} is stale"


def test_the_floors_of_the_runtime_are_what_the_stubs_ask_for() -> None:
    project = tomllib.loads((PROTOS.parent / "pyproject.toml").read_text())["project"]
    stub = (PROTOS / "dragoman/v1/translation_pb2.py").read_text()
    generated = ".".join(
        line.strip(" ,") for line in stub.split("Domain.PUBLIC,")[1].splitlines()[1:4]
    )
    assert f"protobuf>={generated}" in project["dependencies"]
    assert f"grpcio>={version('grpcio-tools')}" in project["dependencies"]


def test_the_descriptor_is_of_this_package() -> None:
    released = FileDescriptorSet.FromString((PROTOS / "v1.binpb").read_bytes())
    ours = {file.name for file in released.file if file.package == "dragoman.v1"}
    assert ours == {"dragoman/v1/model.proto", "dragoman/v1/translation.proto"}


def test_names_of_services_and_methods() -> None:
    assert {
        f"{service.full_name}/{method.name}"
        for module in (model_pb2, translation_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    } == {
        "dragoman.v1.TranslationService/TranslateText",
        "dragoman.v1.TranslationService/StreamTranslateText",
        "dragoman.v1.TranslationService/PredictNextToken",
        "dragoman.v1.TranslationService/ScoreTranslation",
        "dragoman.v1.ModelService/ListModels",
        "dragoman.v1.ModelService/GetModel",
    }
