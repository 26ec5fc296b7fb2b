"""Read a bundle: the directory that holds everything one model needs to be served.

Nothing is taken on trust: every file that the manifest names is hashed, and whatever is missing,
altered, of another format version or outside the directory is refused by name.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dragoman.engine.errors import BundleError
from dragoman.engine.manifest import Fields
from dragoman.engine.tokenizer import SpecialTokens

# The second has keys and values of int8, which engines of the first can't hold.
FORMAT_VERSIONS = (1, 2)
MANIFEST = "bundle.json"
ENCODER = "encoder.onnx"
DECODER = "decoder.onnx"
SCORER = "scorer.onnx"
WEIGHTS = "weights.bin"
TOKENIZER = "tokenizer.model"
REQUIRED_FILES = (ENCODER, DECODER, SCORER, WEIGHTS, TOKENIZER)


@dataclass(frozen=True, slots=True)
class Architecture:
    """Sizes of the model."""

    d_model: int
    heads: int
    head_size: int
    feed_forward: int
    encoder_layers: int
    decoder_layers: int
    norm: str
    vocabulary_size: int
    max_positions: int


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Longest sequences, in tokens, end-of-sentence included."""

    max_source_tokens: int
    max_target_tokens: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """A verified bundle.

    Attributes:
        directory: where it lies.
        format_version: of the manifest.
        name: of the model, such as "en-de-small".
        source_language_code: BCP-47.
        target_language_code: BCP-47.
        precision: "int8" or "fp32", of the matrices.
        cache_precision: the same, of the keys and values that attention looks back on.
        architecture: sizes of the model.
        tokens: ids of the control tokens.
        limits: longest sequences.
        files: sha256 of each file, by name.
        sha256: of the manifest, which covers all the files: the identity of the bundle.
        training: facts about how it was trained.
        certificate: what its export measured.
        license: SPDX expression.
        origins: where its training data came from.
    """

    directory: Path
    format_version: int
    name: str
    source_language_code: str
    target_language_code: str
    precision: str
    cache_precision: str
    architecture: Architecture
    tokens: SpecialTokens
    limits: TokenLimits
    files: Mapping[str, str]
    sha256: str
    training: Mapping[str, Any]
    certificate: Mapping[str, Any]
    license: str
    origins: tuple[Any, ...]

    @classmethod
    def load(cls, directory: Path) -> "Bundle":
        """Read and verify the bundle in a directory.

        Raises:
            BundleError: naming the file or field that is missing or wrong.
        """
        content = _read(directory, MANIFEST)
        fields = _parse(content)
        files = _file_hashes(fields)
        for name, expected in files.items():
            _verify(directory, name, expected)
        return cls(
            directory=directory,
            format_version=fields.integer("format_version"),
            name=fields.text("name"),
            source_language_code=fields.text("source_language_code"),
            target_language_code=fields.text("target_language_code"),
            precision=fields.choice("precision", ("int8", "fp32")),
            cache_precision=fields.optional_choice("cache_precision", ("fp32", "int8")),
            architecture=_architecture(fields.group("architecture")),
            tokens=_tokens(fields.group("tokens")),
            limits=_limits(fields.group("limits")),
            files=MappingProxyType(files),
            sha256=hashlib.sha256(content).hexdigest(),
            training=MappingProxyType(fields.group("training").values),
            certificate=MappingProxyType(fields.group("certificate").values),
            license=fields.text("license"),
            origins=tuple(fields.array("origins")),
        )

    def path(self, name: str) -> Path:
        """Path of one of the bundle's files."""
        return self.directory / name


def _parse(content: bytes) -> Fields:
    try:
        values = json.loads(content)
    except ValueError as error:
        raise BundleError(MANIFEST, f"is not JSON ({error})") from error
    if not isinstance(values, dict):
        raise BundleError(MANIFEST, "is not a JSON object")
    fields = Fields(MANIFEST, values)
    version = fields.values.get("format_version")
    if isinstance(version, bool) or version not in FORMAT_VERSIONS:
        known = " and ".join(map(str, FORMAT_VERSIONS))
        raise BundleError(MANIFEST, f"format_version is {version!r}; this engine reads {known}")
    return fields


def _file_hashes(fields: Fields) -> dict[str, str]:
    group = fields.group("files")
    for name in REQUIRED_FILES:
        if name not in group.values:
            raise BundleError(MANIFEST, f"files does not list {name}")
    return {name: group.text(name) for name in group.values}


def _read(directory: Path, name: str) -> bytes:
    return _inside(directory, name).read_bytes()


def _verify(directory: Path, name: str, expected: str) -> None:
    with _inside(directory, name).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise BundleError(name, f"is altered: its sha256 is {found}, not {expected}")


def _inside(directory: Path, name: str) -> Path:
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        raise BundleError(name, f"lies outside the bundle {directory}")
    if not path.is_file():
        raise BundleError(name, f"is missing from the bundle {directory}")
    return path


def _architecture(fields: Fields) -> Architecture:
    architecture = Architecture(
        d_model=fields.count("d_model"),
        heads=fields.count("heads"),
        head_size=fields.count("head_size"),
        feed_forward=fields.count("feed_forward"),
        encoder_layers=fields.count("encoder_layers"),
        decoder_layers=fields.count("decoder_layers"),
        norm=fields.choice("norm", ("pre", "post")),
        vocabulary_size=fields.count("vocabulary_size"),
        max_positions=fields.count("max_positions"),
    )
    if architecture.heads * architecture.head_size != architecture.d_model:
        raise BundleError(MANIFEST, "architecture: heads x head_size is not d_model")
    return architecture


def _tokens(fields: Fields) -> SpecialTokens:
    return SpecialTokens(
        fields.integer("pad"), fields.integer("unk"), fields.integer("bos"), fields.integer("eos")
    )


def _limits(fields: Fields) -> TokenLimits:
    return TokenLimits(fields.count("max_source_tokens"), fields.count("max_target_tokens"))
