"""Bundles appear whole or not at all, and say what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.export.bundle import Description, add_texts, replacing, training_facts, write_manifest
from dragoman.export.certificate import Check
from dragoman.export.graphs import ExportError
from dragoman.export.precisions import Precision, Precisions
from dragoman.training.tokenizer import file_sha256
from dragoman.transformer import TransformerConfig

CONFIG = TransformerConfig.preset("tiny", norm="post")


def description(**values: Any) -> Description:
    defaults = {"name": "en-de", "source_language_code": "en", "target_language_code": "de"}
    return Description(**(defaults | values))


def written(folder: Path, about: Description, caches: Precision = "int8") -> dict[str, Any]:
    (folder / "tokenizer").write_text("pieces", encoding="utf-8")
    bundle = folder / "bundle"
    bundle.mkdir()
    add_texts(bundle, folder / "tokenizer", about)
    checks = [Check("loss", "what is lost", 0.5, 1.0, "nats")]
    write_manifest(bundle, CONFIG, Precisions("int8", caches), about, {"step_count": 7}, checks)
    content: dict[str, Any] = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    return content


def test_an_error_leaves_the_older_bundle(tmp_path: Path) -> None:
    path = tmp_path / "bundle"
    path.mkdir()
    (path / "old").touch()

    def fail() -> None:
        with replacing(path) as directory:
            (directory / "new").touch()
            raise ExportError("a check failed")

    with pytest.raises(ExportError):
        fail()
    assert [found.name for found in tmp_path.iterdir()] == ["bundle"]
    assert [found.name for found in path.iterdir()] == ["old"]


def test_a_whole_bundle_takes_the_place_of_the_older(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "bundle"
    for name in ("old", "new"):
        with replacing(path) as directory:
            (directory / name).touch()
            assert path.exists() == (name == "new")
    assert [found.name for found in path.parent.iterdir()] == ["bundle"]
    assert [found.name for found in path.iterdir()] == ["new"]


def test_what_a_broken_export_left_behind_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "bundle.part").mkdir()
    (tmp_path / "bundle.part" / "rest").touch()
    with replacing(tmp_path / "bundle") as directory:
        assert not list(directory.iterdir())


def test_manifest_tells_sizes_files_and_checks(tmp_path: Path) -> None:
    content = written(tmp_path, description())
    assert content["precision"] == "int8"
    assert content["architecture"] == {
        "d_model": 64,
        "heads": 4,
        "head_size": 16,
        "feed_forward": 128,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "norm": "post",
        "vocabulary_size": 300,
        "max_positions": 64,
    }
    assert content["tokens"] == {"pad": 0, "unk": 1, "bos": 2, "eos": 3}
    assert content["limits"] == {"max_source_tokens": 64, "max_target_tokens": 64}
    assert content["files"] == {"tokenizer.model": file_sha256(tmp_path / "tokenizer")}
    assert content["training"] == {"step_count": 7}
    assert content["license"] == "NOASSERTION"
    assert content["origins"] == []
    assert content["certificate"]["checks"] == [
        {
            "name": "loss",
            "description": "what is lost",
            "value": 0.5,
            "bound": 1.0,
            "unit": "nats",
        }
    ]


@pytest.mark.parametrize(("caches", "version"), [("int8", 2), ("fp32", 1)])
def test_only_caches_of_int8_need_the_second_format(
    tmp_path: Path, caches: Precision, version: int
) -> None:
    content = written(tmp_path, description(), caches)
    assert content["format_version"] == version
    assert content["cache_precision"] == caches


def test_licence_and_origins_travel_with_the_model(tmp_path: Path) -> None:
    licence, origins = tmp_path / "terms.txt", tmp_path / "sources.tsv"
    licence.write_text("SPDX-License-Identifier: GPL-2.0-or-later AND MIT \n\nText.", "utf-8")
    origins.write_text(
        "name\tlicense\turi\tsentence_pair_count\npack\tMIT\thttps://a.example/\t12\nbare\t\t\t\n",
        "utf-8",
    )
    content = written(tmp_path, description(license=licence, origins=origins))
    assert content["license"] == "GPL-2.0-or-later AND MIT"
    assert content["origins"] == [
        {
            "name": "pack",
            "license": "MIT",
            "uri": "https://a.example/",
            "sentence_pair_count": 12,
        },
        {"name": "bare"},
    ]
    assert set(content["files"]) == {"LICENSE", "ORIGINS.tsv", "tokenizer.model"}


def test_texts_that_name_nothing_are_refused(tmp_path: Path) -> None:
    licence, origins = tmp_path / "terms.txt", tmp_path / "sources.tsv"
    licence.write_text("Do as you like.", "utf-8")
    with pytest.raises(ExportError, match="no line with SPDX-License-Identifier"):
        written(tmp_path, description(license=licence))
    origins.write_text("name\turi\n\thttps://a.example/\n", "utf-8")
    (tmp_path / "other").mkdir()
    with pytest.raises(ExportError, match="a row without a name"):
        written(tmp_path / "other", description(origins=origins))


@pytest.mark.parametrize("name", ["", "En-De", "en_de", "-en", "en--de", "../en", "en de"])
def test_a_name_that_is_no_resource_name_is_refused(name: str) -> None:
    with pytest.raises(ExportError, match="name: "):
        description(name=name)


def test_a_missing_language_is_refused() -> None:
    with pytest.raises(ExportError, match="target_language_code: "):
        description(target_language_code="")


def test_training_facts_hold_no_paths() -> None:
    facts = {
        "progress": {"step": 9, "target_tokens": 100, "seconds": 2.5, "epoch": 1},
        "recipe": {"data": {"train": ["/home/somebody/train.tsv"]}},
        "pairs": 50,
        "dev": {"chrf": 40.0},
    }
    assert training_facts(facts, 1234) == {
        "step_count": 9,
        "target_token_count": 100,
        "sentence_pair_count": 50,
        "parameter_count": 1234,
        "duration_seconds": 2.5,
        "dev": {"chrf": 40.0},
    }
    assert training_facts({}, 5) == {"parameter_count": 5}
