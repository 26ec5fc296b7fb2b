"""Dev text, and what counts as copying and looping."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.engine import FinishReason, Hypothesis
from dragoman.export.certificate import CertificateError
from dragoman.export.dev_text import DevText, Quality, compare_quality, loops, measure_quality
from dragoman.export.graphs import ExportError
from dragoman.export.served import Served
from dragoman.training.checkpoint import load_model
from tests import number_words


def hypothesis(*ids: int, reason: FinishReason = FinishReason.STOP) -> Hypothesis:
    return Hypothesis(ids, (0.0,) * (len(ids) + 1), reason, score=0.0)


def test_saying_the_same_over_and_over_is_looping() -> None:
    assert loops(hypothesis(5, 9, 9, 9, 9))
    assert loops(hypothesis(1, 2, 1, 2, 1, 2, 1, 2, 7))
    assert loops(hypothesis(*(1, 2, 3) * 4))


def test_saying_something_a_few_times_is_not() -> None:
    assert not loops(hypothesis())
    assert not loops(hypothesis(9, 9, 9, 5, 9))
    assert not loops(hypothesis(*(1, 2, 3) * 3))


def test_finding_no_end_is_looping() -> None:
    assert loops(hypothesis(5, 6, reason=FinishReason.LENGTH))


def test_losing_quality_beyond_a_bound_is_refused() -> None:
    exact = Quality(chrf=60.0, copied=2.0, looping=1.0)
    for check in compare_quality(exact, Quality(chrf=59.1, copied=2.9, looping=1.9)):
        check.require()
    for worse, name in (
        (Quality(chrf=58.9, copied=2.0, looping=1.0), "int8_chrf_loss"),
        (Quality(chrf=60.0, copied=3.1, looping=1.0), "int8_copied_increase"),
        (Quality(chrf=60.0, copied=2.0, looping=2.1), "int8_looping_increase"),
    ):
        check = next(check for check in compare_quality(exact, worse) if check.name == name)
        with pytest.raises(CertificateError, match=name):
            check.require()


@pytest.fixture(scope="session")
def numbers(tiny_run: Path, tiny_checkpoint: Path) -> DevText:
    """Held-out number words."""
    model, tokenizer, _ = load_model(tiny_checkpoint)
    return DevText.load(tiny_run / "dev.tsv", tokenizer, model.config)


def test_pairs_come_with_their_tokens(numbers: DevText) -> None:
    assert len(numbers.pairs) == len(numbers.sentences) > 100
    assert all(sentence.source_ids[-1] == 3 for sentence in numbers.sentences)
    assert all(sentence.target_ids[0] == 2 for sentence in numbers.sentences)


def test_calibration_spreads_over_the_text(numbers: DevText) -> None:
    chosen = numbers.calibration()
    assert 100 < len(chosen) <= 256
    assert chosen[0] == numbers.sentences[0]
    assert numbers.sentences.index(chosen[-1]) > 0.9 * len(numbers.sentences)


def test_a_text_that_fits_nowhere_is_refused(tmp_path: Path, tiny_checkpoint: Path) -> None:
    model, tokenizer, _ = load_model(tiny_checkpoint)
    path = tmp_path / "dev.tsv"
    path.write_text("one " * 200 + "\teins\nonly one column\n\tnothing\n", encoding="utf-8")
    with pytest.raises(ExportError, match="holds no pair that fits the model"):
        DevText.load(path, tokenizer, model.config)


def test_a_trained_model_translates_the_text(numbers: DevText, tiny_bundle: Path) -> None:
    quality = measure_quality(Served.by(tiny_bundle, numbers.sources), numbers)
    assert quality.chrf > 95
    assert quality.copied == 0
    assert quality.looping < 2


def test_number_words_are_the_text(numbers: DevText) -> None:
    held_out = {number_words.english(number) for number in number_words.split()[1]}
    assert {pair.source for pair in numbers.pairs} <= held_out
