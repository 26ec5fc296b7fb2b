"""The model that peers get is the one inside the bundle."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import onnx
import pytest
import torch
from sentencepiece import SentencePieceProcessor

from benchmarks.dequantize import DequantizeError, dequantized
from dragoman.engine.bundle import ENCODER, MANIFEST
from dragoman.export.quantization import quantize_columns
from dragoman.training.checkpoint import load_model
from dragoman.training.decode import greedy
from tests import number_words


def test_the_embedding_is_that_of_the_checkpoint_rounded(
    tiny_bundle: Path, tiny_checkpoint: Path
) -> None:
    model, _, _ = load_model(tiny_checkpoint)
    exact = model.embedding.weight.detach()
    rounded = quantize_columns(exact.T)
    expected = (rounded.values * rounded.scales).T
    found = dequantized(tiny_bundle).embedding.weight.detach()
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0.0)
    # Half a step, but where two neighbours together would be too large for 16 bits.
    steps = (found - exact).abs() / rounded.scales[:, None]
    assert steps.median() < 0.5
    assert (steps > 0.5001).float().mean() < 0.2


def test_it_computes_what_the_checkpoint_does(tiny_bundle: Path, tiny_checkpoint: Path) -> None:
    model, tokenizer, _ = load_model(tiny_checkpoint)
    rebuilt = dequantized(tiny_bundle)
    assert rebuilt.config.d_model == model.config.d_model
    processor = SentencePieceProcessor(model_file=str(tokenizer))
    _, held_out = number_words.split()
    texts = [number_words.english(number) for number in held_out[:24]]
    sources = [[*processor.encode(text), 3] for text in texts]
    exact, found = (greedy(each, sources, 40) for each in (model.eval(), rebuilt))
    same = sum(a == b for a, b in zip(exact, found, strict=True))
    assert same >= 22


def test_a_graph_without_a_weight_is_refused_by_name(tiny_bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "bundle"
    shutil.copytree(tiny_bundle, broken)
    graph = onnx.load(broken / ENCODER, load_external_data=False)
    (weight,) = (each for each in graph.graph.initializer if each.name == "layers.0.output.weight")
    weight.name = "renamed"
    onnx.save(graph, broken / ENCODER)
    _sign(broken)
    with pytest.raises(DequantizeError, match=r"encoder\.onnx: .*'layers\.0\.output\.weight'"):
        dequantized(broken)


def _sign(bundle: Path) -> None:
    manifest = json.loads((bundle / MANIFEST).read_text())
    manifest["files"][ENCODER] = hashlib.sha256((bundle / ENCODER).read_bytes()).hexdigest()
    (bundle / MANIFEST).write_text(json.dumps(manifest))
