from pathlib import Path

import pytest

from dragoman.engine import Engine, Prefix
from dragoman.server.decoding import DecodingReader
from dragoman.v1 import translation_pb2


@pytest.fixture(scope="module")
def reader(tiny_bundle: Path) -> DecodingReader:
    engine = Engine.load(tiny_bundle)
    return DecodingReader(engine.tokenizer, engine.limits, default_beam_size=4)


def test_the_same_options_are_read_once(reader: DecodingReader) -> None:
    first = reader.read(translation_pb2.DecodingOptions(beam_size=3), Prefix())
    assert reader.read(translation_pb2.DecodingOptions(beam_size=3), Prefix()) is first
    other = reader.read(translation_pb2.DecodingOptions(beam_size=2), Prefix())
    assert (first.options.beam_size, other.options.beam_size) == (3, 2)


def test_drawn_seeds_differ(reader: DecodingReader) -> None:
    message = translation_pb2.DecodingOptions(sampling=translation_pb2.Sampling())
    assert reader.read(message, Prefix()).seed != reader.read(message, Prefix()).seed


def test_what_is_kept_has_a_bound(reader: DecodingReader) -> None:
    for size in range(1, 60):
        for penalty in range(10):
            message = translation_pb2.DecodingOptions(
                max_output_token_count=size, length_penalty=penalty / 10
            )
            assert reader.read(message, Prefix()).options.max_output_tokens == size
    assert len(reader._read_before) <= 256
