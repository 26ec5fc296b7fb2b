"""Writing a bundle: into a directory beside its place, and there only when all of it holds."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.engine.bundle import FORMAT_VERSIONS, MANIFEST, TOKENIZER
from dragoman.export.certificate import Check
from dragoman.export.graphs import ExportError
from dragoman.export.precisions import Precisions
from dragoman.training.tokenizer import UNK_ID, file_sha256
from dragoman.transformer import TransformerConfig

LICENSE = "LICENSE"
ORIGINS = "ORIGINS.tsv"

_NO_LICENSE = "NOASSERTION"
_ORIGIN_COLUMNS = ("name", "license", "uri", "sentence_pair_count")
_SPDX = re.compile(r"SPDX-License-Identifier:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a bundle says of itself beside its sizes.

    Attributes:
        name: of the model, in lower case with hyphens, such as "en-de-small".
        source_language_code: BCP-47.
        target_language_code: BCP-47.
        license: text of the licence; its SPDX-License-Identifier line becomes the bundle's field.
        origins: a TSV file with a header (name, license, uri, sentence_pair_count).
    """

    name: str
    source_language_code: str
    target_language_code: str
    license: Path | None = None
    origins: Path | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ExportError(
                f"name: {self.name!r} must be lower-case letters and digits, joined by hyphens"
            )
        for field in ("source_language_code", "target_language_code"):
            if not getattr(self, field):
                raise ExportError(f"{field}: the checkpoint names none; give it as an option")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a fresh directory that takes the place of `path` at the end, or vanishes on an error."""
    partial = path.with_name(path.name + ".part")
    old = path.with_name(path.name + ".old")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            path.rename(old)
        partial.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def add_texts(directory: Path, tokenizer: Path, description: Description) -> None:
    """Copy the tokenizer, the licence and the origins into a bundle."""
    shutil.copyfile(tokenizer, directory / TOKENIZER)
    for source, name in ((description.license, LICENSE), (description.origins, ORIGINS)):
        if source is not None:
            shutil.copyfile(source, directory / name)


def write_manifest(
    directory: Path,
    config: TransformerConfig,
    precisions: Precisions,
    description: Description,
    training: dict[str, Any],
    checks: Sequence[Check],
) -> None:
    """Write bundle.json, over whatever the directory holds."""
    content = {
        "format_version": FORMAT_VERSIONS[precisions.caches == "int8"],
        "name": description.name,
        "source_language_code": description.source_language_code,
        "target_language_code": description.target_language_code,
        "precision": precisions.matrices,
        "cache_precision": precisions.caches,
        "architecture": _architecture(config),
        "tokens": {
            "pad": config.pad_id,
            "unk": UNK_ID,
            "bos": config.bos_id,
            "eos": config.eos_id,
        },
        "limits": {
            "max_source_tokens": config.max_positions,
            "max_target_tokens": config.max_positions,
        },
        "files": {
            path.name: file_sha256(path)
            for path in sorted(directory.iterdir())
            if path.name != MANIFEST
        },
        "training": training,
        "certificate": {"checks": [check.to_dict() for check in checks]},
        "license": _license_expression(description.license),
        "origins": _origins(description.origins),
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")


def training_facts(facts: dict[str, Any], parameters: int) -> dict[str, Any]:
    """Pick what is worth telling from a checkpoint's facts; whatever is absent stays out."""
    progress = facts.get("progress", {})
    known = {
        "step_count": progress.get("step"),
        "target_token_count": progress.get("target_tokens"),
        "sentence_pair_count": facts.get("pairs"),
        "parameter_count": parameters,
        "duration_seconds": progress.get("seconds"),
        "dev": facts.get("dev"),
    }
    return {name: value for name, value in known.items() if value is not None}


def _architecture(config: TransformerConfig) -> dict[str, Any]:
    names = (
        "d_model",
        "heads",
        "head_size",
        "feed_forward",
        "encoder_layers",
        "decoder_layers",
        "norm",
        "vocabulary_size",
        "max_positions",
    )
    return {name: getattr(config, name) for name in names}


def _license_expression(path: Path | None) -> str:
    if path is None:
        return _NO_LICENSE
    found = _SPDX.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise ExportError(f"license: {path} has no line with SPDX-License-Identifier")
    return found.group(1)


def _origins(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [_origin(path, row) for row in rows]


def _origin(path: Path, row: dict[str, str]) -> dict[str, Any]:
    origin: dict[str, Any] = {name: row[name] for name in _ORIGIN_COLUMNS if row.get(name)}
    if "name" not in origin:
        raise ExportError(f"origins: {path} has a row without a name")
    if "sentence_pair_count" in origin:
        origin["sentence_pair_count"] = int(origin["sentence_pair_count"])
    return origin
