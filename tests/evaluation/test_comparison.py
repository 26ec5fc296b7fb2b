"""Two results side by side, and what a baseline must be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.evaluation.comparison import compare
from dragoman.evaluation.errors import EvaluationError
from dragoman.evaluation.results import Baseline, read_baseline, write_results
from dragoman.evaluation.sentences import EvaluationSet
from dragoman.evaluation.translating import Decoding
from tests.evaluation.samples import BAD, GOOD, TEST, evaluation, result


def baseline(**outputs: tuple[str, ...]) -> Baseline:
    return Baseline("models/before, fp32", TEST.fingerprint, outputs)


def test_equal_outputs_differ_in_nothing() -> None:
    found = compare(TEST, result(BAD), baseline(greedy=BAD))
    for difference in (found.overall, *found.domains.values()):
        assert (difference.bleu, difference.chrf, difference.changed) == (0.0, 0.0, 0)
        assert difference.bleu_p is difference.chrf_p is None


def test_what_is_gained() -> None:
    found = compare(TEST, result(GOOD), baseline(greedy=BAD))
    assert found.overall.bleu == found.overall.after.bleu - found.overall.before.bleu > 0
    assert found.overall.chrf > 0
    assert found.overall.changed == 4
    assert list(found.domains) == ["prose", "ui"]
    back = compare(TEST, result(BAD), baseline(greedy=GOOD))
    assert back.overall.bleu == -found.overall.bleu


def test_a_large_difference_is_significant_and_a_tiny_one_is_not() -> None:
    many = EvaluationSet("many.tsv", TEST.sources * 20, TEST.references * 20, ("ui",) * 80, {})
    after = replace(result(GOOD), outputs=GOOD * 20)
    large = compare(many, after, baseline(greedy=BAD * 20)).overall
    assert large.bleu_p is not None
    assert large.chrf_p is not None
    assert max(large.bleu_p, large.chrf_p) < 0.01
    tiny = compare(many, after, baseline(greedy=(*GOOD * 19, *GOOD[:3], BAD[2]))).overall
    assert tiny.changed == 1
    assert tiny.bleu_p is not None
    assert tiny.bleu_p > 0.05


def test_the_same_decoding_is_compared_or_else_the_first() -> None:
    beam = Decoding("beam")
    both = baseline(greedy=BAD, beam=GOOD)
    assert compare(TEST, result(GOOD, beam), both).baseline == "beam"
    assert compare(TEST, result(GOOD, beam), baseline(greedy=BAD)).baseline == "greedy"


def test_a_baseline_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    write_results(path, evaluation(result(BAD), result(GOOD, Decoding("beam"))).to_dict())
    found = read_baseline(path, TEST)
    assert found == Baseline("models/small, int8", TEST.fingerprint, {"greedy": BAD, "beam": GOOD})


def altered(**changes: Any) -> str:
    return json.dumps(evaluation().to_dict() | changes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no result of an evaluation"),
        ("[]", "no result of an evaluation"),
        ("{}", "no result of an evaluation"),
        (altered(format_version=9), "format version 9, not 1"),
        (altered(model=None), "no result of an evaluation"),
        (altered(results=[]), r"other sentences than those of small\.tsv"),
        (altered(test={"fingerprint": "00"}), "other sentences"),
    ],
)
def test_what_is_no_baseline(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "before.json"
    path.write_text(content)
    with pytest.raises(EvaluationError, match=rf"before\.json: .*{message}"):
        read_baseline(path, TEST)
