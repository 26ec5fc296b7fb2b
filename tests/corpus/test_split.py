"""Setting documents apart, and what training gives away."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.leakage import GRAM, MAX_SHARED, leaks, words
from dragoman.corpus.pair import Pair
from dragoman.corpus.split import LARGEST, Quota, split

DOCUMENTS = st.dictionaries(
    st.from_regex(r"[a-z]{1,3}", fullmatch=True),
    st.tuples(st.sampled_from(["man", "gettext", "games"]), st.integers(1, 30)),
    max_size=30,
)
LINES = st.lists(st.sampled_from("abc"), min_size=1, max_size=9).map(" ".join)


def corpus(documents: dict[str, tuple[str, int]]) -> list[Pair]:
    return [
        Pair(f"{name} {i}", f"{i}", origin, name, ("p",))
        for name, (origin, count) in documents.items()
        for i in range(count)
    ]


def pair(source: str, target: str = "z") -> Pair:
    return Pair(source, target, "man", "d", ("p",))


@given(DOCUMENTS)
def test_documents_stay_whole_and_quotas_are_kept(documents: dict[str, tuple[str, int]]) -> None:
    pairs = corpus(documents)
    parts = split(pairs, Quota(20, 0.2), Quota(30, 0.3))
    every = [*parts.train, *parts.dev, *parts.test, *parts.left_out]
    assert Counter(every) == Counter(pairs)
    names = [{p.document for p in part} for part in (parts.train, parts.dev, parts.test)]
    assert not names[0] & names[1] | names[0] & names[2] | names[1] & names[2]
    assert {p.document for p in parts.left_out} <= names[1] | names[2]
    sizes = Counter(p.domain for p in pairs)
    for part, quota in ((parts.dev, Quota(20, 0.2)), (parts.test, Quota(30, 0.3))):
        for domain, count in Counter(p.domain for p in part).items():
            assert count <= min(quota.pairs, quota.share * sizes[domain])


@given(DOCUMENTS)
def test_the_order_of_documents_does_not_matter(documents: dict[str, tuple[str, int]]) -> None:
    turned = dict(reversed(documents.items()))
    first, second = split(corpus(documents)), split(corpus(turned))
    for part in ("train", "dev", "test", "left_out"):
        assert set(getattr(first, part)) == set(getattr(second, part))


def test_a_small_sample_cuts_its_smallest_documents() -> None:
    pairs = corpus({"a": ("man", 60), "b": ("man", 20), "c": ("man", 24), "d": ("man", 56)})
    parts = split(pairs, Quota(10, 0.1), Quota(10, 0.1))
    assert [p.document for p in parts.test] == ["b"] * 10
    assert [p.document for p in parts.dev] == ["c"] * 10
    assert len(parts.left_out) == 24
    assert len(parts.train) == 116


def test_a_document_that_is_most_of_a_domain_is_never_cut() -> None:
    pairs = corpus({"a": ("man", 60), "b": ("man", 40)})
    assert LARGEST * 100 < 40
    assert split(pairs).train == pairs


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ("Open the Door, 12!", "source in train"),
        ("open the old door", "one word from train"),
        ("open door", "one word from train"),
        ("open the window", "one word from train"),
        ("door open the", None),
        ("close the window now", None),
        ("b c d e f g h x", "6-grams in train"),
        ("b c d e f g h x y", None),
        ("c d e f g h x y v", None),
    ],
)
def test_sources(held: str, reason: str | None) -> None:
    train = [pair("Open the door", "a"), pair("a b c d e f g h", "b")]
    found = leaks([pair(held, "other")], train)
    assert found == ({0: reason} if reason else {})


def test_targets() -> None:
    found = leaks([pair("x y", "Die Tür!"), pair("v w", "Das Tor")], [pair("a b c", "die tür 2")])
    assert found == {0: "target in train"}


def test_words_are_what_counts() -> None:
    assert words("Öffne 2 Dateien: »a_b«!") == ("öffne", "dateien", "a", "b")


@given(st.lists(LINES, max_size=4), st.lists(LINES, max_size=4))
def test_leaks_are_those_of_the_plain_definition(held: list[str], train: list[str]) -> None:
    found = leaks([pair(text, f"h {i}") for i, text in enumerate(held)], [pair(t) for t in train])
    assert found.keys() == {i for i, text in enumerate(held) if _leaks(text, train)}


def _leaks(text: str, train: list[str]) -> bool:
    own = text.split()
    near = any(_distance(own, other.split()) <= 1 for other in train)
    grams = {tuple(own[i : i + GRAM]) for i in range(len(own) - GRAM + 1)}
    seen = {
        tuple(other.split()[i : i + GRAM])
        for other in train
        for i in range(len(other.split()) - GRAM + 1)
    }
    return near or (bool(grams) and len(grams & seen) > MAX_SHARED * len(grams))


def _distance(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]
