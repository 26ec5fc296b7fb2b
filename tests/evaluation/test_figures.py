"""Figures over all and per domain."""

from __future__ import annotations

import pytest
import sacrebleu

from dragoman.evaluation.figures import break_down, measure, signatures, traits
from dragoman.evaluation.rates import Rate
from tests.evaluation.samples import BAD, GOOD, TEST


def test_scores_are_sacrebleus() -> None:
    figures = measure(TEST.sources, TEST.references, BAD)
    assert figures.bleu == sacrebleu.corpus_bleu(list(BAD), [list(TEST.references)]).score
    assert figures.chrf == sacrebleu.corpus_chrf(list(BAD), [list(TEST.references)]).score
    assert figures.sentences == 4


def test_the_length_ratio_counts_characters() -> None:
    figures = measure(("a", "b"), ("zwei", "drei!!"), ("ein", "äö"))
    assert figures.length_ratio == pytest.approx(5 / 10)


def test_traits_by_hand() -> None:
    found = traits(TEST.sources, BAD)
    assert found.copies == Rate(1, 4)
    assert found.loops == Rate(1, 4)
    assert found.empties == Rate(1, 4)
    assert found.placeholders == Rate(0, 1)
    assert found.numbers == Rate(1, 1)
    assert found.addresses == Rate(0, 1)


def test_the_references_are_perfect() -> None:
    figures = measure(TEST.sources, TEST.references, GOOD)
    assert figures.bleu == pytest.approx(100)
    assert figures.chrf == pytest.approx(100)
    assert figures.length_ratio == 1
    assert figures.traits.placeholders == figures.traits.numbers == Rate(1, 1)


def test_a_domain_is_measured_like_a_test_set_of_its_own() -> None:
    figures = break_down(TEST, BAD)
    assert figures.overall == measure(TEST.sources, TEST.references, BAD)
    assert list(figures.domains) == ["prose", "ui"]
    assert figures.domains["ui"] == measure(TEST.sources[:2], TEST.references[:2], BAD[:2])
    assert figures.domains["prose"] == measure(TEST.sources[2:], TEST.references[2:], BAD[2:])


def test_signatures_name_the_version() -> None:
    found = signatures()
    assert found["BLEU"] == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|{version()}"
    assert found["chrF"] == f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|{version()}"


def version() -> str:
    return f"version:{sacrebleu.__version__}"
