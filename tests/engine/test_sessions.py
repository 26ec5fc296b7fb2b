"""The graphs run on buffers that stay where they are, and rows don't know each other."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dragoman.engine import Bundle, BundleError
from dragoman.engine.bundle import DECODER, ENCODER
from dragoman.engine.cache import Cache, CacheShape, Values
from dragoman.engine.encoder_session import EncoderSession
from dragoman.engine.sessions import DecoderSession, StepInput, StepOutput, open_session

ROWS = 4
SOURCES = [(5, 6, 3), (7, 3), (8, 9, 10, 11, 12, 13, 14, 15, 16, 3), (5, 6, 3)]


class Graphs:
    """Both graphs of a bundle over one cache."""

    def __init__(self, directory: Path, threads: int = 1) -> None:
        bundle = Bundle.load(directory)
        self.shape = CacheShape.of(bundle, ROWS)
        self.cache = Cache(self.shape)
        self.input = StepInput.zeros(ROWS)
        self.encoder = EncoderSession(
            open_session(bundle.path(ENCODER), threads), self.shape, bundle.tokens.pad
        )
        self.session = open_session(bundle.path(DECODER), threads)
        size = bundle.architecture.vocabulary_size
        self.decoder = DecoderSession(self.session, self.cache, self.input, size)

    def begin(self, *sources: tuple[int, ...]) -> None:
        for row, encoded in enumerate(self.encoder.run(list(sources))):
            assert encoded is not None
            self.cache.load_source(row, encoded)
            self.input.token[row], self.input.length[row] = 2, 0
            self.input.source_length[row] = encoded.shape[3]

    def greedy(self, rows: int, steps: int, *, k: int = 8) -> list[StepOutput]:
        outputs = []
        for _ in range(steps):
            output = self.decoder.run(rows, k, all_log_probs=True)
            outputs.append(
                StepOutput(
                    output.top_ids.copy(), output.top_log_probs.copy(), output.log_probs.copy()
                )
            )
            self.input.token[:rows] = output.top_ids[:, 0]
            self.input.length[:rows] += 1
        return outputs


@pytest.fixture(scope="module", params=["tiny_bundle", "tiny_bundle_float_caches"])
def bundle(request: pytest.FixtureRequest) -> Path:
    """An int8 bundle, with caches of either kind."""
    path: Path = request.getfixturevalue(request.param)
    return path


@pytest.fixture(scope="module")
def graphs(bundle: Path) -> Graphs:
    return Graphs(bundle)


def test_a_step_reads_one_token_a_row(graphs: Graphs) -> None:
    shapes = {value.name: value.shape for value in graphs.session.get_inputs()}
    assert len(shapes["token"]) == len(shapes["length"]) == len(shapes["source_length"]) == 1


def test_cross_attention_is_not_computed_again(graphs: Graphs) -> None:
    """What the encoder gave is only rewritten where it stands: no value of it ever changes."""
    graphs.begin(*SOURCES)
    before = graphs.cache.source.copy()
    graphs.greedy(ROWS, 6)
    for row, source in enumerate(SOURCES):
        live = (slice(None), slice(None), row, slice(None), slice(len(source)))
        assert np.array_equal(graphs.cache.source[live], before[live])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_source_alone_and_among_others_is_encoded_alike(bundle: Path, threads: int) -> None:
    graphs = Graphs(bundle, threads)
    together = graphs.encoder.run(SOURCES)
    lengths = [encoded.shape[3] for encoded in together if encoded is not None]
    assert lengths == [len(source) for source in SOURCES]
    for source, encoded in zip(SOURCES, together, strict=True):
        [alone] = graphs.encoder.run([source])
        assert alone is not None
        assert encoded is not None
        assert np.array_equal(alone, encoded)


def test_padding_never_goes_beyond_the_longest_source(
    graphs: Graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph has no positions there."""
    shape = dataclasses.replace(graphs.shape, source_capacity=13)
    encoder = EncoderSession(graphs.encoder._session, shape, pad=0)
    widths: list[int] = []
    run = encoder._run

    def spy(ids: NDArray[np.int64], *others: Any) -> Values:
        widths.append(ids.shape[1])
        return run(ids, *others)

    monkeypatch.setattr(encoder, "_run", spy)
    for source in ((*range(5, 17), 3), (5, 3)):
        [clamped], [free] = encoder.run([source]), graphs.encoder.run([source])
        assert clamped is not None
        assert free is not None
        assert np.array_equal(clamped, free)
    assert widths == [13, 8]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_alone_and_among_others_gives_the_same_bits(bundle: Path, threads: int) -> None:
    graphs = Graphs(bundle, threads)
    graphs.begin(*SOURCES)
    together = graphs.greedy(ROWS, 8)
    for row, source in enumerate(SOURCES):
        graphs.begin(source)
        for alone, shared in zip(graphs.greedy(1, 8), together, strict=True):
            assert np.array_equal(alone.top_ids[0], shared.top_ids[row])
            assert np.array_equal(alone.top_log_probs[0], shared.top_log_probs[row])
            assert np.array_equal(alone.log_probs[0], shared.log_probs[row])


def test_top_candidates_agree_with_all_log_probabilities(graphs: Graphs) -> None:
    graphs.begin(*SOURCES)
    for output in graphs.greedy(ROWS, 4, k=20):
        gathered = np.take_along_axis(output.log_probs, output.top_ids, axis=1)
        assert np.array_equal(gathered, output.top_log_probs)
        assert (np.diff(output.top_log_probs, axis=1) <= 0).all()
        assert np.allclose(np.exp(output.log_probs).sum(axis=1), 1, atol=1e-4)


def test_more_candidates_do_not_change_the_first(graphs: Graphs) -> None:
    graphs.begin(*SOURCES)
    few = graphs.greedy(ROWS, 4, k=3)
    graphs.begin(*SOURCES)
    for some, many in zip(few, graphs.greedy(ROWS, 4, k=100), strict=True):
        assert some.top_ids.shape[1] >= 3
        width = some.top_ids.shape[1]
        assert np.array_equal(some.top_ids, many.top_ids[:, :width])
        assert np.array_equal(some.top_log_probs, many.top_log_probs[:, :width])


def test_all_log_probabilities_are_given_only_on_request(graphs: Graphs) -> None:
    graphs.begin(*SOURCES)
    assert graphs.decoder.run(2, 5, all_log_probs=False).log_probs.size == 0


def test_steps_of_one_size_share_one_preparation(graphs: Graphs) -> None:
    graphs.begin(*SOURCES)
    graphs.greedy(3, 2)
    prepared = len(graphs.decoder._bound)
    graphs.begin(*SOURCES)
    graphs.greedy(3, 10)
    assert len(graphs.decoder._bound) == prepared


def test_stale_values_beyond_the_live_length_are_never_read(graphs: Graphs) -> None:
    graphs.begin(*SOURCES)
    clean = graphs.greedy(ROWS, 5)
    stale = 127 if graphs.shape.rounded else np.nan
    graphs.cache.target[:] = stale
    graphs.cache.source[:] = stale
    graphs.begin(*SOURCES)
    for expected, output in zip(clean, graphs.greedy(ROWS, 5), strict=True):
        assert np.array_equal(expected.log_probs, output.log_probs)


def test_a_graph_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"encoder\.onnx: can't be loaded"):
        open_session(tmp_path / "encoder.onnx", 1)
