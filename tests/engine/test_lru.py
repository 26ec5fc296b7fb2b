"""What was used last stays; the bytes never exceed the bound."""

from __future__ import annotations

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine.lru import LruBytes

KEYS = st.integers(0, 6)


@given(st.integers(0, 30), st.lists(st.tuples(st.booleans(), KEYS, st.integers(1, 12))))
def test_it_does_what_a_plain_list_would(bound: int, actions: list[tuple[bool, int, int]]) -> None:
    lru: LruBytes[int, str] = LruBytes(bound)
    model: OrderedDict[int, int] = OrderedDict()
    for put, key, size in actions:
        if put and key not in model:
            forgotten = lru.put(key, f"value {key}", size)
            if size <= bound:
                model[key] = size
            expected = []
            while sum(model.values()) > bound:
                expected.append(model.popitem(last=False)[0])
            assert forgotten == expected
        else:
            assert lru.get(key) == (f"value {key}" if key in model else None)
            if key in model:
                model.move_to_end(key)
        assert lru.bytes == sum(model.values()) <= bound
        assert len(lru) == len(model)


def test_what_is_removed_is_gone() -> None:
    lru: LruBytes[str, int] = LruBytes(10)
    lru.put("a", 1, 4)
    lru.remove("a")
    assert lru.get("a") is None
    assert lru.bytes == 0
