"""The models that the benchmarks run, made once and kept: in our format and in a peer's."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import torch
from sentencepiece import sentencepiece_model_pb2

from benchmarks.peers.ctranslate2_model import write_ctranslate2
from dragoman.engine.bundle import DECODER, ENCODER, SCORER
from dragoman.export.bundle import Description, add_texts, replacing, write_manifest
from dragoman.export.calibration import Sentence, measure_ranges
from dragoman.export.graphs import decoder_model, encoder_model, scorer_model
from dragoman.export.int8 import IntegerArithmetic
from dragoman.export.weights import save_graphs
from dragoman.training.checkpoint import load_model
from dragoman.transformer import Transformer, TransformerConfig

CACHE = Path(__file__).parent.parent / ".cache" / "benchmarks"


@dataclass(frozen=True, slots=True)
class Pair:
    """The same weights twice: a bundle of ours (int8) and a CTranslate2 directory (float32)."""

    bundle: Path
    ctranslate2: Path


def random_base(tokenizer: Path) -> Pair:
    """The paper's `base` shape with random weights and 32,000 pieces: speed, no sense.

    Args:
        tokenizer: any smaller SentencePiece model; it is filled up with pieces of no meaning.
    """
    folder = CACHE / "base"
    pair = Pair(folder / "bundle", folder / "ctranslate2")
    if not pair.ctranslate2.exists():
        torch.manual_seed(1)
        model = Transformer(TransformerConfig.preset("base")).eval()
        folder.mkdir(parents=True, exist_ok=True)
        wide = _widened(tokenizer, model.config.vocabulary_size, folder / "tokenizer.model")
        _write_bundle(model, wide, pair.bundle)
        write_ctranslate2(model, None, pair.ctranslate2)
    return pair


def trained(checkpoint: Path) -> Pair:
    """A trained checkpoint in both formats."""
    folder = CACHE / checkpoint.resolve().parent.name / checkpoint.name
    pair = Pair(folder / "bundle", folder / "ctranslate2")
    if not pair.ctranslate2.exists():
        model, tokenizer, _ = load_model(checkpoint)
        _write_bundle(model, tokenizer, pair.bundle)
        write_ctranslate2(model, tokenizer, pair.ctranslate2)
    return pair


def _write_bundle(model: Transformer, tokenizer: Path, path: Path) -> None:
    """Export to int8 with ranges from random text: what a rounded value is, costs no time."""
    generator = random.Random(1)
    ids = range(4, model.config.vocabulary_size)
    sentences = [
        Sentence((*generator.choices(ids, k=20), 3), (2, *generator.choices(ids, k=20)))
        for _ in range(8)
    ]
    arithmetic = IntegerArithmetic(measure_ranges(model, sentences))
    graphs = {
        ENCODER: encoder_model(model, arithmetic),
        DECODER: decoder_model(model, arithmetic),
        SCORER: scorer_model(model, arithmetic),
    }
    description = Description(
        name="benchmark", source_language_code="en", target_language_code="de"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as directory:
        save_graphs(graphs, directory)
        add_texts(directory, tokenizer, description)
        write_manifest(directory, model.config, "int8", description, {}, [])


def _widened(tokenizer: Path, size: int, path: Path) -> Path:
    proto = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    proto.ParseFromString(tokenizer.read_bytes())
    for number in range(len(proto.pieces), size):
        proto.pieces.add(piece=f"\u2581<filler-{number}>", score=-1000.0)
    path.write_bytes(proto.SerializeToString())
    return path
