"""The automaton that follows the spelling of terms, against plain comparisons."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import Term
from dragoman.engine.search.terms import Terms, TermState

SPELLINGS = st.lists(st.integers(4, 6), min_size=1, max_size=4).map(tuple)
TERMS = st.lists(
    st.builds(
        Term,
        st.lists(SPELLINGS, min_size=1, max_size=3).map(tuple),
        st.booleans(),
        st.sampled_from([0.0, 0.5, 2.0]),
    ),
    min_size=1,
    max_size=4,
)
TOKENS = st.lists(st.integers(4, 7), max_size=12).map(tuple)


def contains(tokens: tuple[int, ...], spelling: tuple[int, ...]) -> bool:
    size = len(spelling)
    return any(tokens[i : i + size] == spelling for i in range(len(tokens) - size + 1))


def matched(tokens: tuple[int, ...], spelling: tuple[int, ...]) -> int:
    """How much of a spelling the tokens end with, less than all of it."""
    sizes = range(min(len(tokens), len(spelling) - 1), 0, -1)
    return next((size for size in sizes if tokens[-size:] == spelling[:size]), 0)


def met(term: Term, tokens: tuple[int, ...]) -> bool:
    return any(contains(tokens, spelling) for spelling in term.target_ids)


def total_bonus(terms: list[Term], tokens: tuple[int, ...]) -> float:
    """All that soft terms have added to an output: for what is spelt, and what is under way."""
    total = 0.0
    for term in terms:
        if term.hard:
            continue
        ends = [n for n in range(len(tokens) + 1) if met(term, tokens[:n])]
        if ends:
            first = tokens[: ends[0]]
            done = [s for s in term.target_ids if first[len(first) - len(s) :] == s]
            total += term.bonus * max(map(len, done))
        else:
            total += term.bonus * max(matched(tokens, s) for s in term.target_ids)
    return total


@given(TERMS, TOKENS)
def test_a_term_is_met_where_the_output_contains_a_spelling(
    terms: list[Term], tokens: tuple[int, ...]
) -> None:
    automaton = Terms(terms)
    state = automaton.walk(tokens)
    assert automaton.met(state) == tuple(met(term, tokens) for term in terms)


@given(TERMS, TOKENS)
def test_bonuses_add_up_to_what_is_spelt(terms: list[Term], tokens: tuple[int, ...]) -> None:
    automaton, state, total = Terms(terms), TermState(), 0.0
    for length, token in enumerate(tokens, start=1):
        usual, exceptions = automaton.bonuses(state)
        total += exceptions.get(token, usual)
        state = automaton.advance(state, token)
        assert total == pytest.approx(total_bonus(terms, tokens[:length]))
    finished = [term for term in terms if met(term, tokens)]
    kept = total - automaton.granted(state)
    assert kept == pytest.approx(total_bonus(finished, tokens))


@given(TERMS, TOKENS, TOKENS)
def test_the_outlook_is_never_exceeded(
    terms: list[Term], tokens: tuple[int, ...], more: tuple[int, ...]
) -> None:
    automaton = Terms(terms)
    outlook = automaton.outlook(automaton.walk(tokens))
    gain = total_bonus(terms, tokens + more) - total_bonus(terms, tokens)
    assert gain <= outlook + 1e-9


@given(TERMS, TOKENS)
def test_what_is_missing_can_be_spelt_in_so_many_tokens(
    terms: list[Term], tokens: tuple[int, ...]
) -> None:
    automaton = Terms(terms)
    state = automaton.walk(tokens)
    missing = automaton.missing(state)
    hard = [term for term in terms if term.hard]
    assert missing <= sum(min(map(len, term.target_ids)) for term in hard)
    while missing:
        better = [automaton.advance(state, token) for token in automaton.leading(state)]
        lower = [after for after in better if automaton.missing(after) <= missing - 1]
        assert lower
        state, missing = lower[0], automaton.missing(lower[0])
    assert all(done for term, done in zip(terms, automaton.met(state), strict=True) if term.hard)


@given(TERMS, TOKENS)
def test_tokens_that_do_not_lead_lead_nowhere(terms: list[Term], tokens: tuple[int, ...]) -> None:
    automaton = Terms(terms)
    state = automaton.walk(tokens)
    for token in set(range(4, 9)) - set(automaton.leading(state)):
        assert automaton.advance(state, token) == TermState(0, state.met)


def test_spellings_that_overlap_are_both_met() -> None:
    automaton = Terms([Term(((4, 5),)), Term(((5, 6),)), Term(((5,), (9, 9)))])
    assert automaton.met(automaton.walk((4, 5, 6))) == (True, True, True)
    for tokens in itertools.permutations((4, 5, 6)):
        expected = tuple(contains(tokens, spelling) for spelling in ((4, 5), (5, 6), (5,)))
        assert automaton.met(automaton.walk(tokens)) == expected
