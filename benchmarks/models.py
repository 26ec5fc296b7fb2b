"""The models that the benchmarks run, in our format and in the peers'; what is written is kept.

(a) is the bundle inside the server package, which peers get as `dequantize` rebuilds it; (b) has
the paper's `base` shape and random weights: speed, no sense.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Literal

import torch
from sentencepiece import sentencepiece_model_pb2

from benchmarks.dequantize import dequantized
from dragoman.engine.bundle import DECODER, ENCODER, MANIFEST, SCORER, TOKENIZER
from dragoman.export.bundle import Description, add_texts, replacing, write_manifest
from dragoman.export.calibration import Sentence, measure_cache_steps, measure_ranges
from dragoman.export.graphs import decoder_model, encoder_model, scorer_model
from dragoman.export.int8 import IntegerArithmetic
from dragoman.export.precisions import Precisions
from dragoman.export.weights import save_graphs
from dragoman.transformer import Transformer, TransformerConfig

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "benchmarks"
DEFAULT_BUNDLE = Path(str(files("dragoman.server") / "models" / "en-de"))

ModelName = Literal["a", "b"]

# What the bytes of the files depend on.
_SOURCES = ("export/dragoman/transformer", "export/dragoman/export")
_OWN_SOURCES = ("models.py", "dequantize.py", "peers/ctranslate2_model.py")


def float_model(name: ModelName) -> Transformer:
    """Give a model in float32, in evaluation mode."""
    if name == "a":
        return dequantized(DEFAULT_BUNDLE)
    torch.manual_seed(1)
    return Transformer(TransformerConfig.preset("base")).eval()


def bundle(name: ModelName) -> Path:
    """Give a model's int8 bundle."""
    return DEFAULT_BUNDLE if name == "a" else kept("bundle-b", _write_base)


def kept(name: str, write: Callable[[Path], None]) -> Path:
    """Give `CACHE/name-<hash of sources>`; `write` makes it, for older sources' one."""
    path = CACHE / f"{name}-{_sources_hash()}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in CACHE.glob(f"{name}-*"):
            shutil.rmtree(old)
        with replacing(path) as directory:
            write(directory)
    return path


def _sources_hash() -> str:
    digest = hashlib.sha256((DEFAULT_BUNDLE / MANIFEST).read_bytes())
    own = [ROOT / "benchmarks" / each for each in _OWN_SOURCES]
    for path in [*own, *(p for f in _SOURCES for p in sorted((ROOT / f).rglob("*.py")))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _write_base(directory: Path) -> None:
    """Export to int8 with ranges from random text: what a rounded value is, costs no time."""
    model = float_model("b")
    generator = random.Random(1)
    ids = range(4, model.config.vocabulary_size)
    sentences = [
        Sentence((*generator.choices(ids, k=20), 3), (2, *generator.choices(ids, k=20)))
        for _ in range(8)
    ]
    steps = measure_cache_steps(model, sentences)
    arithmetic = IntegerArithmetic(measure_ranges(model, sentences), steps)
    graphs = {
        ENCODER: encoder_model(model, arithmetic),
        DECODER: decoder_model(model, arithmetic),
        SCORER: scorer_model(model, arithmetic),
    }
    description = Description(
        name="benchmark", source_language_code="en", target_language_code="de"
    )
    save_graphs(graphs, directory)
    tokenizer = directory.with_suffix(".tokenizer")
    _write_widened(model.config.vocabulary_size, tokenizer)
    add_texts(directory, tokenizer, description)
    tokenizer.unlink()
    write_manifest(directory, model.config, Precisions("int8", "int8"), description, {}, [])


def _write_widened(size: int, path: Path) -> None:
    """Fill the default tokenizer up with pieces of no meaning."""
    proto = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    proto.ParseFromString((DEFAULT_BUNDLE / TOKENIZER).read_bytes())
    for number in range(len(proto.pieces), size):
        proto.pieces.add(piece=f"\u2581<filler-{number}>", score=-1000.0)
    path.write_bytes(proto.SerializeToString())
