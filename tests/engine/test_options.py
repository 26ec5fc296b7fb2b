"""Options of the engine are checked when they are made."""

from __future__ import annotations

import pytest

from dragoman.engine import EngineOptions, InvalidOptionError
from dragoman.engine.options import MAX_ROWS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_rows", 0),
        ("max_rows", MAX_ROWS + 1),
        ("max_queued", 0),
        ("max_batch_tokens", 0),
        ("decoder_threads", 0),
        ("decoder_workers", 0),
        ("decoder_workers", 17),
        ("encoder_threads", -1),
        ("source_cache_bytes", -1),
        ("prefix_cache_bytes", -1),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name(field: str, value: int) -> None:
    with pytest.raises(InvalidOptionError) as error:
        EngineOptions(**{field: value})
    assert (error.value.field, error.value.value) == (field, value)


def test_the_bounds_themselves_are_allowed() -> None:
    assert EngineOptions(max_rows=1, max_queued=1, max_batch_tokens=1, decoder_threads=1)
    assert EngineOptions(source_cache_bytes=0, prefix_cache_bytes=0)
    assert EngineOptions(max_rows=MAX_ROWS).encoder_threads is None
