"""Numbers that are not finite: int8 rounds them to integers, but they end their request, alone."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from dragoman.engine import DecodingOptions, NumericsError, TranslationRequest
from dragoman.engine.bundle import DECODER, ENCODER, MANIFEST, SCORER
from tests.engine.calls import Call
from tests.engine.hand import Hand
from tests.engine.traffic import translations

POSITION = 3


@pytest.fixture(params=["tiny_bundle", "tiny_bundle_float_caches", "tiny_bundle_fp32"])
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a bundle of each kind in turn, that a test may spoil."""
    return Path(shutil.copytree(request.getfixturevalue(request.param), tmp_path / "bundle"))


def sign(bundle: Path, **changes: object) -> None:
    """Let the manifest hold what the files are."""
    manifest = json.loads((bundle / MANIFEST).read_text()) | changes
    for name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256((bundle / name).read_bytes()).hexdigest()
    (bundle / MANIFEST).write_text(json.dumps(manifest))


def spoil(bundle: Path, name: str, value: float) -> None:
    """Let one graph's table of positions hold a value that is not finite."""
    graph = onnx.load(bundle / name)
    (table,) = (each for each in graph.graph.initializer if each.name == "embedded.positions")
    values = numpy_helper.to_array(table).copy()
    values[POSITION, 3] = value
    table.CopyFrom(numpy_helper.from_array(values, table.name))
    assert table.data_location == TensorProto.DEFAULT
    onnx.save(graph, bundle / name)
    sign(bundle)


def answered(hand: Hand, *requests: TranslationRequest) -> list[Call]:
    calls = hand.submit(*requests)
    hand.encode()
    hand.finish(*calls)
    return calls


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_step_that_is_not_finite_ends_its_request_alone(
    bundle: Path, beam_size: int, value: float
) -> None:
    clean = Hand(bundle, max_rows=8)
    sources = [each.source_ids for each in translations(clean.engine, 2)]

    def request(source: tuple[int, ...], most: int) -> TranslationRequest:
        options = DecodingOptions(max_output_tokens=most, beam_size=beam_size)
        return TranslationRequest(source, options=options, stream=beam_size == 1)

    short, long = request(sources[0], POSITION), request(sources[1], POSITION + 2)
    expected = [call.hypothesis() for call in answered(clean, short, long)]
    assert len(expected[1].log_probabilities) > POSITION
    spoil(bundle, DECODER, value)
    hand = Hand(bundle, max_rows=8)
    safe, spoiled = answered(hand, short, long)
    assert safe.hypothesis() == expected[0]
    assert isinstance(spoiled.error(), NumericsError)
    if long.stream:
        assert spoiled.committed()[0] == expected[1].token_ids[:POSITION]
    statistics = hand.engine.statistics()
    assert statistics.slots_created == statistics.slots_released
    [again] = answered(hand, short)
    assert again.hypothesis() == expected[0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_source_that_is_not_finite_ends_its_request_alone(bundle: Path, value: float) -> None:
    clean = Hand(bundle)
    [given] = translations(clean.engine, 1)
    *text, end = (*given.source_ids[:-1] * 8, given.source_ids[-1])
    sources = [(*text[:length], end) for length in (POSITION - 1, POSITION, POSITION + 9)]
    options = DecodingOptions(max_output_tokens=9)
    requests = [TranslationRequest(source, options=options) for source in sources]
    [expected, *_] = answered(clean, *requests)
    spoil(bundle, ENCODER, value)
    short, *longer = answered(Hand(bundle), *requests)
    assert short.hypothesis() == expected.hypothesis()
    assert [type(call.error()) for call in longer] == [NumericsError] * 2


def test_a_bundle_of_the_first_format_gives_what_it_gave(
    tiny_bundle_float_caches: Path, tmp_path: Path
) -> None:
    """It says nothing of its caches, and its graphs give no evidence."""
    first = Path(shutil.copytree(tiny_bundle_float_caches, tmp_path / "bundle"))
    for name in (ENCODER, DECODER):
        graph = onnx.load(first / name, load_external_data=False)
        kept = [output for output in graph.graph.output if output.name != "evidence"]
        assert len(kept) == len(graph.graph.output) - 1
        del graph.graph.output[:]
        graph.graph.output.extend(kept)
        onnx.save(graph, first / name)
    manifest = json.loads((first / MANIFEST).read_text())
    del manifest["cache_precision"]
    (first / MANIFEST).write_text(json.dumps(manifest))
    sign(first, format_version=1)
    assert (first / SCORER).read_bytes() == (tiny_bundle_float_caches / SCORER).read_bytes()
    old, new = Hand(first), Hand(tiny_bundle_float_caches)
    requests = translations(old.engine, 6)
    found, expected = answered(old, *requests), answered(new, *requests)
    assert [call.hypothesis() for call in found] == [call.hypothesis() for call in expected]
    [spoiled, other] = old.submit(*requests[:2])
    old.encode()
    old.step()
    old.engine._loops[0].rows._cache.source[0, 1, 0, 0, 0, 0] = np.nan
    old.finish(spoiled, other)
    assert isinstance(spoiled.error(), NumericsError)
    assert other.hypothesis() == expected[1].hypothesis()
