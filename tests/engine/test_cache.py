"""The cache takes memory only where it is used, and copies only what is alive."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import psutil

from dragoman.engine import Bundle
from dragoman.engine.cache import Cache, CacheShape

SMALL = CacheShape(layers=2, rows=3, heads=2, head_size=4, target_capacity=32, source_capacity=32)


def encoded(length: int, value: float = 1.0) -> np.ndarray:
    return np.full((SMALL.layers, 2, SMALL.heads, length, SMALL.head_size), value, np.float32)


def test_sizes_come_from_the_bundle(tiny_bundle: Path) -> None:
    bundle = Bundle.load(tiny_bundle)
    shape = CacheShape.of(bundle, rows=5)
    assert (shape.layers, shape.rows) == (bundle.architecture.decoder_layers, 5)
    assert shape.target_capacity == bundle.limits.max_target_tokens
    assert shape.source_capacity == bundle.limits.max_source_tokens


def test_the_bundle_says_what_it_holds(
    tiny_bundle: Path, tiny_bundle_float_caches: Path, tiny_bundle_fp32: Path
) -> None:
    kinds = [(tiny_bundle, np.int8), (tiny_bundle_float_caches, np.float32)]
    for path, dtype in (*kinds, (tiny_bundle_fp32, np.float32)):
        cache = Cache(CacheShape.of(Bundle.load(path), rows=2))
        assert cache.target.dtype == cache.source.dtype == dtype


def test_integers_are_finite() -> None:
    for value, finite in ((1.0, True), (np.inf, False), (np.nan, False)):
        cache = Cache(SMALL)
        cache.target[1, 0, 1, 1, 3] = value
        assert cache.finite(1, 3, 5)
        assert cache.finite(1, 4, 5) is finite
    rounded = Cache(dataclasses.replace(SMALL, rounded=True))
    rounded.target[:], rounded.source[:] = 127, -128
    assert rounded.finite(1, 32, 32)


def test_a_source_fills_its_positions_alone() -> None:
    cache = Cache(SMALL)
    cache.load_source(1, encoded(5))
    assert (cache.source[:, :, 1, :, :5] == 1).all()
    assert cache.source.sum() == encoded(5).size


def test_a_copy_takes_what_is_alive() -> None:
    cache = Cache(SMALL)
    cache.target[:, :, 2], cache.source[:, :, 2] = 7, 8
    cache.copy_target(2, 0, start=1, length=3)
    cache.copy_target(2, 0, start=3, length=3)
    cache.copy_source(2, 0, length=4)
    assert not cache.target[:, :, 0, :, :1].any()
    assert (cache.target[:, :, 0, :, 1:3] == 7).all()
    assert not cache.target[:, :, 0, :, 3:].any()
    assert (cache.source[:, :, 0, :, :4] == 8).all()
    assert not cache.source[:, :, 0, :, 4:].any()
    assert not cache.target[:, :, 1].any()


def test_clearing_a_row_leaves_nothing_of_it() -> None:
    cache = Cache(SMALL)
    cache.target[:], cache.source[:] = np.nan, np.nan
    cache.clear(1)
    assert not cache.target[:, :, 1].any()
    assert not cache.source[:, :, 1].any()
    assert np.isnan(cache.target[:, :, [0, 2]]).all()


def test_capacity_takes_no_memory_before_it_is_used() -> None:
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    shape = CacheShape(
        layers=6, rows=32, heads=8, head_size=64, target_capacity=544, source_capacity=544
    )
    cache = Cache(shape)
    reserved = cache.target.nbytes + cache.source.nbytes
    assert reserved > 800 * 2**20
    assert process.memory_info().rss - before < reserved / 50
