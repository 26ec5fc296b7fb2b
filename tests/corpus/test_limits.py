"""Doublets and alternatives."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.limits import MAX_ALTERNATIVES, few_alternatives, without_doublets
from dragoman.corpus.pair import Pair

SHORT = st.sampled_from("abcdef")
PAIRS = st.lists(st.builds(Pair, SHORT, SHORT, st.just("man"), SHORT, st.just(("p",))))


def pair(source: str, target: str, document: str = "d") -> Pair:
    return Pair(source, target, "man", document, ("p",))


def test_the_first_of_doublets_stays() -> None:
    kept, seen = without_doublets([pair("a", "x", "1"), pair("a", "x", "2"), pair("a", "y")])
    assert kept == [pair("a", "x", "1"), pair("a", "y")]
    assert seen == {("a", "x"): 2, ("a", "y"): 1}


def test_a_few_of_those_that_differ_in_digits_stay() -> None:
    pairs = [pair(f"Figure {i}.", f"Abbildung {i}.") for i in range(5)]
    assert without_doublets(pairs)[0] == pairs[:MAX_ALTERNATIVES]


def test_the_commonest_alternatives_stay_in_their_order() -> None:
    pairs = [pair("a", target) for target in "vwxyz"]
    seen = Counter({("a", "v"): 1, ("a", "w"): 1, ("a", "x"): 1, ("a", "y"): 3, ("a", "z"): 2})
    kept = few_alternatives(pairs, seen, by_target=False)
    assert [p.target for p in kept] == ["v", "y", "z"]
    assert few_alternatives(pairs, seen, by_target=True) == pairs


@given(PAIRS)
def test_limits_hold_and_nothing_comes_in(pairs: list[Pair]) -> None:
    single, seen = without_doublets(pairs)
    assert seen.total() == len(pairs)
    few = few_alternatives(single, seen, by_target=False)
    kept = few_alternatives(few, seen, by_target=True)
    assert [p for p in single if p in kept] == kept
    assert max(Counter(p.source for p in kept).values(), default=0) <= MAX_ALTERNATIVES
    assert max(Counter(p.target for p in kept).values(), default=0) <= MAX_ALTERNATIVES
    assert {p.source for p in few} == {p.source for p in pairs}
