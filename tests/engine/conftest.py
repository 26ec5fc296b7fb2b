"""Fixtures of the engine's tests: small tokenizers, and engines on the tiny trained bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from dragoman.engine import Engine, EngineObserver, EngineOptions, Tokenizer
from tests.engine.calls import Load, Solo
from tests.engine.tokenizers import SPECIAL, tokenizer_model

# Machines that run the tests may be slow: nothing in them is timed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def model() -> bytes:
    """A serialised tokenizer."""
    return tokenizer_model(removes_spaces=False)


@pytest.fixture(scope="session", params=[False, True], ids=["keeps-spaces", "drops-spaces"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """A tokenizer, of either way to treat spaces."""
    return Tokenizer(tokenizer_model(removes_spaces=request.param), SPECIAL)


@pytest.fixture
def load(tiny_bundle: Path) -> Iterator[Load]:
    """Load engines with given options; they are stopped after the test."""
    engines: list[Engine] = []

    def load_engine(observer: EngineObserver | None = None, **options: int) -> Engine:
        defaults = {"decoder_workers": 2, "decoder_threads": 1, "encoder_threads": 1}
        engine = Engine.load(tiny_bundle, EngineOptions(**(defaults | options)), observer)
        engines.append(engine)
        return engine

    yield load_engine
    for engine in engines:
        engine.stop(drain=False)


@pytest.fixture(scope="session")
def solo(tiny_bundle: Path) -> Iterator[Solo]:
    """Answers requests one at a time, each alone in the engine."""
    options = EngineOptions(max_rows=1, decoder_workers=1, decoder_threads=1, encoder_threads=1)
    engine = Engine.load(tiny_bundle, options)
    engine.start()
    yield Solo(engine)
    engine.stop(drain=False)
