"""Outputs that must or should contain wordings, on models that are tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dragoman.engine import DecodingOptions, FinishReason, Prefix, Term
from dragoman.engine.search import Beam, ConstrainedBeam, LengthPenalty, Rules, Vocabulary
from dragoman.engine.search.constrained import share_out
from dragoman.engine.search.finished import Stopping
from dragoman.engine.search.proposals import Proposal
from tests.engine.search.test_beam import same, stream
from tests.engine.search.test_terms import contains, total_bonus
from tests.engine.search.toy import EOS, OTHER_WORD, SIZE, VOCABULARY, WORD, A, B, TableModel, run
from tests.reference.search import Task, beam_search, exhaustive_search

SMALL = Vocabulary(6, 2, EOS, VOCABULARY.never, np.array([A], np.int64))


def constrained(
    size: int,
    *spellings: tuple[int, ...],
    limit: int = 10,
    alpha: float = 0.6,
    prefix: Prefix | None = None,
    vocabulary: Vocabulary = VOCABULARY,
    **options: Any,
) -> ConstrainedBeam:
    terms = tuple(Term((spelling,)) for spelling in spellings)
    chosen = DecodingOptions(beam_size=size, terms=terms, **options)
    rules = Rules(vocabulary, prefix or Prefix(), limit, chosen)
    assert rules.terms is not None
    return ConstrainedBeam(
        rules, rules.terms, LengthPenalty(alpha, limit), size, Stopping(size, size)
    )


@pytest.mark.parametrize("size", [2, 4, 16])
@pytest.mark.parametrize(
    "spellings",
    [((A,),), ((A, B, A),), ((A, B), (B, A)), ((WORD, A), (B,), (OTHER_WORD, OTHER_WORD))],
)
def test_every_outcome_contains_all_hard_terms(
    size: int, spellings: tuple[tuple[int, ...], ...]
) -> None:
    for seed in range(20):
        search = constrained(size, *spellings)
        run(search, TableModel(SIZE, seed))
        assert search.hypotheses()
        for hypothesis in search.hypotheses():
            assert all(contains(hypothesis.token_ids, spelling) for spelling in spellings)
            assert hypothesis.met_terms == (True,) * len(spellings)


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6, 2.0])
@pytest.mark.parametrize("spellings", [((A, B),), ((B, B), (A,)), ((A, A, B),)])
def test_a_beam_that_holds_every_prefix_searches_exhaustively(
    alpha: float, spellings: tuple[tuple[int, ...], ...]
) -> None:
    for seed in range(20):
        model = TableModel(6, seed, scale=1.0)
        search = constrained(16, *spellings, limit=4, alpha=alpha, vocabulary=SMALL)
        run(search, model)
        task = Task(model.torch, EOS, VOCABULARY.never, 4, alpha)
        expected = [
            output
            for output in exhaustive_search(task)
            if all(contains(output.tokens, spelling) for spelling in spellings)
        ]
        found = search.hypotheses()
        assert len(found) == len(expected)
        assert all(map(same, found, expected))


def test_terms_are_spelt_within_the_shortest_output_that_holds_them() -> None:
    for seed in range(20):
        search = constrained(3, (A, B), (WORD, WORD), limit=5, prefix=Prefix((B,)))
        run(search, TableModel(SIZE, seed))
        best = search.hypotheses()[0]
        assert best.met_terms == (True, True)
        assert best.token_ids[0] == B


def test_terms_win_over_what_else_is_forbidden() -> None:
    for seed in range(10):
        search = constrained(4, (A, A), no_repeat_ngram_size=1, suppressed_ids=(A,))
        run(search, TableModel(SIZE, seed))
        for hypothesis in search.hypotheses():
            assert contains(hypothesis.token_ids, (A, A))


def test_a_term_in_the_prefix_is_met() -> None:
    search = constrained(2, (A, B), prefix=Prefix((A, B)))
    run(search, TableModel(SIZE, 0))
    free = Beam(
        Rules(VOCABULARY, Prefix((A, B)), 10, DecodingOptions()),
        LengthPenalty(0.6, 10),
        2,
        Stopping(2),
    )
    run(free, TableModel(SIZE, 0))
    best = search.hypotheses()[0]
    assert best.met_terms == (True,)
    assert best.token_ids == free.hypotheses()[0].token_ids


def test_what_is_committed_is_never_taken_back() -> None:
    for seed in range(30):
        search = constrained(4, (A, B), (WORD,))
        ids, _ = stream(search, TableModel(SIZE, seed, scale=3.0))
        assert ids == search.hypotheses()[0].token_ids


def proposal(total: float, token: int) -> Proposal:
    return Proposal(total, 0, token, total)


def test_banks_take_turns() -> None:
    first = [proposal(-9, 1)]
    second = [proposal(-1, 2), proposal(-2, 3), proposal(-3, 4)]
    third = [proposal(-0.5, 5), proposal(-0.6, 6)]
    tokens = [chosen.token for chosen in share_out([first, second, third], 5)]
    assert tokens == [1, 2, 5, 3, 6]
    assert [chosen.token for chosen in share_out([first], 5)] == [1]


def soft(
    size: int, terms: list[Term], *, limit: int = 4, alpha: float = 0.6, vocabulary: Vocabulary
) -> Beam:
    options = DecodingOptions(beam_size=size, terms=tuple(terms))
    rules = Rules(vocabulary, Prefix(), limit, options)
    return Beam(rules, LengthPenalty(alpha, limit), size, Stopping(size, size))


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6, 2.0])
@pytest.mark.parametrize("bonus", [0.0, 0.5, 3.0])
def test_soft_terms_raise_the_scores_of_outputs_that_contain_them(
    alpha: float, bonus: float
) -> None:
    terms = [Term(((A, B),), hard=False, bonus=bonus), Term(((B, B, A), (B, B)), False, 0.2)]
    for seed in range(20):
        model = TableModel(6, seed, scale=1.0)
        search = soft(16, terms, alpha=alpha, vocabulary=SMALL)
        run(search, model)
        task = Task(model.torch, EOS, VOCABULARY.never, 4, alpha)
        expected = {}
        for output in exhaustive_search(task):
            finished = [t for t in terms if any(contains(output.tokens, s) for s in t.target_ids)]
            added = total_bonus(finished, output.tokens)
            length = len(output.log_probs)
            expected[output.tokens, output.ends] = task.score(sum(output.log_probs) + added, length)
        best = sorted(expected.values(), reverse=True)[:16]
        found = search.hypotheses()
        # float32 is added to before it is summed.
        assert [h.score for h in found] == pytest.approx(best, abs=1e-5)
        for hypothesis in found:
            key = (hypothesis.token_ids, hypothesis.finish_reason is FinishReason.STOP)
            assert hypothesis.score == pytest.approx(expected[key], abs=1e-5)
            assert hypothesis.met_terms == tuple(
                any(contains(hypothesis.token_ids, s) for s in term.target_ids) for term in terms
            )


def test_a_soft_term_without_bonus_changes_nothing() -> None:
    for seed in range(20):
        model = TableModel(SIZE, seed)
        search = soft(3, [Term(((A, B),), False, 0.0)], limit=8, vocabulary=VOCABULARY)
        run(search, model)
        expected = beam_search(Task(model.torch, EOS, VOCABULARY.never, 8), 3, ends=2)
        assert [h.token_ids for h in search.hypotheses()] == [o.tokens for o in expected[:3]]
