"""Fixtures of the export's tests: small random models, and their graphs, traced once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.engine.bundle import DECODER, ENCODER, SCORER
from dragoman.export.arithmetic import Arithmetic, FloatArithmetic
from dragoman.export.calibration import Sentence, measure_cache_steps, measure_ranges
from dragoman.export.equalization import equalize
from dragoman.export.graphs import decoder_model, encoder_model, scorer_model
from dragoman.export.int8 import IntegerArithmetic
from dragoman.export.precisions import Precision, Precisions
from dragoman.export.runner import GraphRunner
from dragoman.export.weights import save_graphs
from dragoman.transformer import Transformer, TransformerConfig
from tests.conftest import cached

GRAPHS = (ENCODER, DECODER, SCORER)
SOURCES = ("export/dragoman/transformer", "export/dragoman/export")
PRECISIONS: dict[str, Precision] = {"fp32": "fp32", "int8": "int8"}
# The norm, the precision and, where it is another one, the caches'.
KINDS = ("pre-fp32", "post-fp32", "pre-int8", "post-int8", "pre-int8-fp32")


@cache
def random_model(norm: str) -> Transformer:
    """A tiny model in which no parameter is zero or one, so that none can be left out."""
    torch.manual_seed(7)
    config = TransformerConfig.preset("tiny", norm=norm, max_positions=160)
    model = Transformer(config).eval()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.1)
    return model


def random_sentences(config: TransformerConfig, count: int) -> list[Sentence]:
    """Sentences of random tokens."""
    generator = np.random.default_rng(3)

    def ids() -> tuple[int, ...]:
        length = int(generator.integers(2, 30))
        return tuple(generator.integers(4, config.vocabulary_size, length).tolist())

    return [Sentence((*ids(), config.eos_id), (config.bos_id, *ids())) for _ in range(count)]


def prepared(model: Transformer, precision: str, caches: str) -> tuple[Transformer, Arithmetic]:
    """What the graphs of a precision are traced from."""
    if precision == "fp32":
        return model, FloatArithmetic()
    sentences = random_sentences(model.config, 20)
    balanced = equalize(model, sentences)
    steps = measure_cache_steps(balanced, sentences) if caches == "int8" else None
    return balanced, IntegerArithmetic(measure_ranges(balanced, sentences), steps)


@dataclass(frozen=True)
class Graphs:
    """A model and the directory of its graphs."""

    model: Transformer
    directory: Path
    precision: Precision
    caches: Precision

    @property
    def precisions(self) -> Precisions:
        return Precisions(self.precision, self.caches)

    @property
    def config(self) -> TransformerConfig:
        return self.model.config

    def runner(self, threads: int = 1) -> GraphRunner:
        return GraphRunner(self.directory, self.config, threads)


def graphs_of(kind: str) -> Graphs:
    """The graphs of one of `KINDS`, traced by the first process that asks."""
    norm, *kinds = kind.split("-")
    precision, *other = (PRECISIONS[kind] for kind in kinds)
    caches = other[0] if other else precision
    model = random_model(norm)

    def build(folder: Path) -> None:
        source, arithmetic = prepared(model, precision, caches)
        traced = {
            ENCODER: encoder_model(source, arithmetic),
            DECODER: decoder_model(source, arithmetic),
            SCORER: scorer_model(source, arithmetic),
        }
        save_graphs(traced, folder)

    return Graphs(model, cached(f"graphs-{kind}", SOURCES, build), precision, caches)


@pytest.fixture(scope="session", params=KINDS)
def graphs(request: pytest.FixtureRequest) -> Graphs:
    """The graphs of each kind in turn."""
    return graphs_of(request.param)


@pytest.fixture(scope="session", params=["pre-fp32", "post-fp32"])
def fp32_graphs(request: pytest.FixtureRequest) -> Graphs:
    """The fp32 graphs of each norm in turn."""
    return graphs_of(request.param)


@pytest.fixture
def copied_graphs(tmp_path: Path) -> Graphs:
    """fp32 graphs in a directory that a test may spoil."""
    found = graphs_of("pre-fp32")
    folder = tmp_path / "graphs"
    shutil.copytree(found.directory, folder)
    return Graphs(found.model, folder, found.precision, found.caches)
