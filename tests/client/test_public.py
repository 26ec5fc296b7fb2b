"""What the package shows, and what it costs to import."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from types import ModuleType

import pytest

import dragoman.client
from dragoman.client import (
    AsyncClient,
    AsyncTranslationStream,
    CallOptions,
    Client,
    ModelOptions,
    TranslateOptions,
    TranslationStream,
)


def public(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }


def test_all_lists_everything_and_nothing_else() -> None:
    assert len(dragoman.client.__all__) == len(set(dragoman.client.__all__))
    assert set(dragoman.client.__all__) == public(dragoman.client)


def test_everything_public_has_a_docstring() -> None:
    for name in dragoman.client.__all__:
        value = getattr(dragoman.client, name)
        if inspect.isclass(value):
            assert value.__doc__, name
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_") and method in vars(value):
                    assert function.__doc__, f"{name}.{method}"


@pytest.mark.parametrize(
    ("blocking", "awaited"), [(Client, AsyncClient), (TranslationStream, AsyncTranslationStream)]
)
def test_both_stacks_have_the_same_methods(blocking: type, awaited: type) -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(function).parameters)
            for name, function in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert methods(blocking) == methods(awaited)
    assert methods(blocking)
    assert list(inspect.signature(blocking).parameters) == list(
        inspect.signature(awaited).parameters
    )


def test_options_are_described_where_they_are_declared() -> None:
    known: set[str] = set()
    for kind in (CallOptions, ModelOptions, TranslateOptions):
        own = set(kind.__annotations__) - known
        described = re.findall(r"^        (\w+): ", str(kind.__doc__), re.MULTILINE)
        assert set(described) == own
        known |= own


def test_results_are_frozen() -> None:
    from dataclasses import FrozenInstanceError

    chunk = dragoman.client.Chunk("x")
    with pytest.raises(FrozenInstanceError):
        chunk.text = "y"  # type: ignore[misc]


@pytest.mark.parametrize("module", ["dragoman.client", "dragoman.client.cli"])
def test_the_import_is_light(module: str) -> None:
    program = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {
        "numpy",
        "onnxruntime",
        "torch",
        "sentencepiece",
        "prometheus_client",
        "structlog",
        "pydantic_settings",
    }
    names = {name for name in json.loads(done.stdout) if name.startswith("dragoman.")}
    assert not any(name.startswith(("dragoman.server", "dragoman.engine")) for name in names)
