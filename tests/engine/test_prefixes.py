"""Decoded prefixes: the longest known beginning is found, whatever was kept and forgotten."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine.prefixes import KnownPrefix, PrefixCache

SOURCES = st.sampled_from([(4, 3), (5, 3)])
TARGETS = st.lists(st.integers(4, 6), min_size=1, max_size=6).map(tuple)


def values(source: tuple[int, ...], target: tuple[int, ...]) -> np.ndarray:
    """Numbers that depend, like keys and values, on the source and all tokens before."""
    marks = [float(hash((source, target[:place]))) for place in range(len(target))]
    return np.broadcast_to(np.array(marks, np.float32)[:, None], (1, 2, 1, len(target), 3)).copy()


def log_probabilities(source: tuple[int, ...], target: tuple[int, ...]) -> list[float]:
    return [float(hash((source, target[: place + 1]))) for place in range(len(target))]


def keep(cache: PrefixCache, source: tuple[int, ...], target: tuple[int, ...]) -> None:
    extra = [*log_probabilities(source, target), 0.5]
    cache.keep(source, target, extra, lambda length: values(source, target)[:, :, :, :length])


def common(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    length = 0
    while first[: length + 1] == second[: length + 1] and length < min(len(first), len(second)):
        length += 1
    return length


@given(st.lists(st.tuples(SOURCES, TARGETS), max_size=30), st.lists(st.tuples(SOURCES, TARGETS)))
def test_the_longest_known_beginning_is_found(
    kept: list[tuple[tuple[int, ...], tuple[int, ...]]],
    wanted: list[tuple[tuple[int, ...], tuple[int, ...]]],
) -> None:
    cache = PrefixCache(1 << 20)
    for source, target in kept:
        keep(cache, source, target)
    for source, target in wanted:
        lengths = [common(target, other) for where, other in kept if where == source]
        check(cache.find(source, target), source, target, max(lengths, default=0))
    assert cache.reused + cache.computed == sum(len(target) for _, target in wanted)


def check(
    found: KnownPrefix | None, source: tuple[int, ...], target: tuple[int, ...], length: int
) -> None:
    if found is None:
        assert length == 0
        return
    assert found.token_ids == target[:length]
    assert list(found.log_probabilities) == log_probabilities(source, target[:length])
    assert (found.target == values(source, target[:length])).all()


@given(st.lists(st.tuples(SOURCES, TARGETS), max_size=60), st.integers(0, 4000))
def test_bytes_and_order_hold_whatever_is_forgotten(
    kept: list[tuple[tuple[int, ...], tuple[int, ...]]], bound: int
) -> None:
    cache = PrefixCache(bound)
    for source, target in kept:
        keep(cache, source, target)
        assert cache.bytes <= bound
        held = [(where, each) for where, targets in cache._targets.items() for each in targets]
        assert set(held) == set(cache._entries._entries)
        for targets in cache._targets.values():
            assert targets == sorted(targets)
            pairs = [(one, other) for one in targets for other in targets if one is not other]
            assert not any(one[: len(other)] == other for one, other in pairs)


def test_the_beginning_of_a_kept_target_is_not_read_again() -> None:
    cache = PrefixCache(1 << 20)
    keep(cache, (4, 3), (5, 6, 7))
    cache.keep((4, 3), (5, 6), [0.0, 0.0], lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
    assert len(cache._entries) == 1


def test_what_is_not_finite_is_not_kept() -> None:
    cache = PrefixCache(1 << 20)
    cache.keep((4, 3), (5,), [0.0], lambda _: np.full((1, 2, 1, 1, 3), np.nan, np.float32))
    assert cache.find((4, 3), (5,)) is None
    assert cache.bytes == 0
