"""Encoded sources are kept by bytes, in memory of their own."""

from __future__ import annotations

import numpy as np

from dragoman.engine.sources import SourceCache


def batch(rows: int) -> np.ndarray:
    return np.arange(2 * 2 * rows * 2 * 8 * 4, dtype=np.float32).reshape(2, 2, rows, 2, 8, 4)


def test_a_source_is_found_again_without_its_batch() -> None:
    cache = SourceCache(1 << 20)
    encoded = batch(3)
    kept = cache.keep((5, 3), encoded[:, :, 1, :, :2])
    assert not np.shares_memory(kept, encoded)
    assert (kept == encoded[:, :, 1, :, :2]).all()
    assert cache.find((5, 3)) is kept
    assert cache.find((6, 3)) is None
    assert cache.bytes > kept.nbytes


def test_what_was_used_last_stays() -> None:
    encoded = batch(1)[:, :, 0]
    cache = SourceCache(3 * (encoded.nbytes + 1000))
    for token in range(10, 13):
        cache.keep((token, 3), encoded)
    cache.find((10, 3))
    cache.keep((13, 3), encoded)
    cache.keep((14, 3), encoded)
    found = [token for token in range(10, 15) if cache.find((token, 3)) is not None]
    assert found == [10, 13, 14]
    assert cache.bytes <= 3 * (encoded.nbytes + 1000)


def test_without_bytes_nothing_is_kept_or_copied() -> None:
    cache = SourceCache(0)
    encoded = batch(2)[:, :, 1, :, :2]
    assert cache.keep((5, 3), encoded) is encoded
    assert cache.find((5, 3)) is None
    assert cache.bytes == 0
