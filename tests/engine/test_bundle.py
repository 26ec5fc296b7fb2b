"""A bundle is verified file by file, and what is wrong is named."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.engine import Bundle, BundleError, Engine
from dragoman.engine.bundle import MANIFEST, REQUIRED_FILES


@pytest.fixture
def copy(tiny_bundle: Path, tmp_path: Path) -> Path:
    """A copy of the tiny bundle that a test may spoil."""
    return Path(shutil.copytree(tiny_bundle, tmp_path / "bundle"))


def edit(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((bundle / MANIFEST).read_text())
    change(manifest)
    (bundle / MANIFEST).write_text(json.dumps(manifest))


def test_a_bundle_is_read(tiny_bundle: Path) -> None:
    bundle = Bundle.load(tiny_bundle)
    manifest = (tiny_bundle / MANIFEST).read_bytes()
    assert bundle.sha256 == hashlib.sha256(manifest).hexdigest()
    assert set(REQUIRED_FILES) <= set(bundle.files)
    assert bundle.architecture.d_model == bundle.architecture.heads * bundle.architecture.head_size
    assert bundle.limits.max_source_tokens <= bundle.architecture.max_positions
    for name, expected in bundle.files.items():
        assert hashlib.sha256(bundle.path(name).read_bytes()).hexdigest() == expected


@pytest.mark.parametrize("name", [MANIFEST, *REQUIRED_FILES])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(BundleError, match=f"{name}: is missing") as error:
        Engine.load(copy)
    assert error.value.subject == name


@pytest.mark.parametrize("name", REQUIRED_FILES)
def test_an_altered_file_is_named(copy: Path, name: str) -> None:
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(BundleError, match=f"{name}: is altered"):
        Engine.load(copy)


@pytest.mark.parametrize("name", REQUIRED_FILES)
def test_a_file_that_the_manifest_leaves_out_is_named(copy: Path, name: str) -> None:
    edit(copy, lambda manifest: manifest["files"].pop(name))
    with pytest.raises(BundleError, match=f"files does not list {name}"):
        Bundle.load(copy)


@pytest.mark.parametrize("version", [0, 3, True, "1", None])
def test_another_format_version_is_refused(copy: Path, version: object) -> None:
    edit(copy, lambda manifest: manifest.update(format_version=version))
    message = f"format_version is {version!r}; this engine reads 1 and 2"
    with pytest.raises(BundleError, match=message):
        Bundle.load(copy)


def test_caches_are_of_float32_where_nothing_is_said(copy: Path) -> None:
    assert (Bundle.load(copy).format_version, Bundle.load(copy).cache_precision) == (2, "int8")
    edit(copy, lambda manifest: manifest.pop("cache_precision"))
    edit(copy, lambda manifest: manifest.update(format_version=1))
    assert (Bundle.load(copy).format_version, Bundle.load(copy).cache_precision) == (1, "fp32")


def test_a_file_outside_the_directory_is_refused(copy: Path) -> None:
    (copy.parent / "secret").write_text("x")
    edit(copy, lambda manifest: manifest["files"].update({"../secret": "0" * 64}))
    with pytest.raises(BundleError, match=r"\.\./secret: lies outside the bundle"):
        Bundle.load(copy)


def test_an_absolute_path_is_refused(copy: Path) -> None:
    edit(copy, lambda manifest: manifest["files"].update({"/etc/hostname": "0" * 64}))
    with pytest.raises(BundleError, match="/etc/hostname: lies outside the bundle"):
        Bundle.load(copy)


def test_a_link_out_of_the_directory_is_refused(copy: Path) -> None:
    outside = copy.parent / "encoder.onnx"
    shutil.move(copy / "encoder.onnx", outside)
    (copy / "encoder.onnx").symlink_to(outside)
    with pytest.raises(BundleError, match=r"encoder\.onnx: lies outside the bundle"):
        Bundle.load(copy)


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"'])
def test_a_manifest_that_is_no_object_is_refused(copy: Path, content: str) -> None:
    (copy / MANIFEST).write_text(content)
    with pytest.raises(BundleError, match=r"bundle\.json: is not"):
        Bundle.load(copy)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("name", lambda manifest: manifest.pop("name")),
        ("precision", lambda manifest: manifest.update(precision="fp8")),
        ("cache_precision", lambda manifest: manifest.update(cache_precision="int4")),
        ("architecture.heads", lambda manifest: manifest["architecture"].update(heads=0)),
        ("architecture", lambda manifest: manifest["architecture"].update(heads=3)),
        ("tokens.eos", lambda manifest: manifest["tokens"].pop("eos")),
        ("limits.max_source_tokens", lambda manifest: manifest["limits"].clear()),
        ("training", lambda manifest: manifest.update(training=[])),
    ],
)
def test_a_wrong_field_is_named(
    copy: Path, field: str, change: Callable[[dict[str, Any]], object]
) -> None:
    edit(copy, change)
    with pytest.raises(BundleError, match=f"bundle.json: {field}"):
        Bundle.load(copy)


def test_a_tokenizer_of_another_size_is_refused(copy: Path, model: bytes) -> None:
    (copy / "tokenizer.model").write_bytes(model)
    digest = hashlib.sha256(model).hexdigest()
    edit(copy, lambda manifest: manifest["files"].update({"tokenizer.model": digest}))
    with pytest.raises(BundleError, match=r"tokenizer\.model: has \d+ pieces, the model has \d+"):
        Engine.load(copy)


def test_a_graph_that_is_none_is_refused(copy: Path) -> None:
    (copy / "decoder.onnx").write_bytes(b"nonsense")
    digest = hashlib.sha256(b"nonsense").hexdigest()
    edit(copy, lambda manifest: manifest["files"].update({"decoder.onnx": digest}))
    with pytest.raises(BundleError, match=r"decoder\.onnx: can't be loaded"):
        Engine.load(copy)
