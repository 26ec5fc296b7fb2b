"""Versions: one place for the project's own, exact ones for everybody else's."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


@pytest.fixture(scope="module")
def constraints(root: Path) -> dict[str, Version]:
    pins: dict[str, Version] = {}
    for line in (root / "constraints.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, separator, pin = line.partition("==")
        assert separator, f"{line!r} is not an exact version"
        assert Version(pin).local is None, f"{line!r} holds for one build only"
        pins[canonicalize_name(name)] = Version(pin)
    return pins


def requirements(pyproject: dict[str, Any]) -> list[Requirement]:
    project = pyproject["project"]
    lists = (project["dependencies"], *project["optional-dependencies"].values())
    entries = [Requirement(entry) for entries in lists for entry in entries]
    return [entry for entry in entries if entry.name != project["name"]]


def test_every_requirement_is_pinned_within_its_range(
    pyproject: dict[str, Any], constraints: dict[str, Version]
) -> None:
    for requirement in requirements(pyproject):
        pin = constraints[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin), f"{requirement} against {pin}"


def test_what_is_installed_is_what_is_pinned(
    pyproject: dict[str, Any], constraints: dict[str, Version]
) -> None:
    for requirement in requirements(pyproject):
        installed = Version(version(requirement.name))
        assert installed.public == str(constraints[canonicalize_name(requirement.name)])


def test_the_builder_of_the_wheel_is_the_pinned_one(
    pyproject: dict[str, Any], constraints: dict[str, Version]
) -> None:
    assert pyproject["build-system"]["requires"] == [f"hatchling=={constraints['hatchling']}"]


def test_the_floor_of_grpcio_is_the_generator_of_the_stubs(pyproject: dict[str, Any]) -> None:
    entries = {entry.name: entry.specifier for entry in requirements(pyproject)}
    generator = str(entries["grpcio-tools"]).removeprefix("==")
    assert str(entries["grpcio"]) == f">={generator}"


def test_the_version_stands_in_one_place(pyproject: dict[str, Any], root: Path) -> None:
    current = pyproject["project"]["version"]
    assert version("dragoman") == current
    for path in root.glob("*/dragoman/**/*.py"):
        assert not re.search(r"__version__\s*=\s*[\"']\d", path.read_text()), path


def test_the_changelog_tells_this_version(pyproject: dict[str, Any], root: Path) -> None:
    heading = rf"^## \[{re.escape(pyproject['project']['version'])}\] - \d{{4}}-\d\d-\d\d$"
    assert re.search(heading, (root / "CHANGELOG.md").read_text(), re.MULTILINE)
