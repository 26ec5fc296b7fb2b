"""What may be lost against a baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dragoman.evaluation.bars import Bars
from dragoman.evaluation.comparison import Comparison, compare
from dragoman.evaluation.report import report
from dragoman.evaluation.results import Baseline
from tests.evaluation.samples import BAD, GOOD, TEST, evaluation, result


def comparison(texts: tuple[str, ...], before: tuple[str, ...]) -> Comparison:
    return compare(TEST, result(texts), Baseline("models/x, fp32", "", {"greedy": before}))


LOST = comparison(BAD, GOOD)


def losing(bleu: float, chrf: float) -> Comparison:
    """A comparison with given differences over all, and half of them in one domain."""
    overall = LOST.overall
    entries = []
    for share in (1.0, 0.5):
        before = overall.before
        after = replace(before, bleu=before.bleu - share * bleu, chrf=before.chrf - share * chrf)
        entries.append(replace(overall, after=after))
    return replace(LOST, overall=entries[0], domains={"ui": entries[1]})


@pytest.mark.parametrize(
    ("bars", "broken"),
    [
        (Bars(0.3, 1.0), 0),
        (Bars(0.3, None), 0),
        (Bars(0.29, None), 1),
        (Bars(0.1, None), 2),
        (Bars(None, 0.14), 1),
        (Bars(0.1, 0.05), 4),
        (Bars(), 0),
    ],
)
def test_losses_are_held_against_their_bars(bars: Bars, broken: int) -> None:
    assert len(bars.broken([losing(0.3, 0.2)])) == broken


def test_what_is_gained_breaks_no_bar() -> None:
    assert Bars(0.0, 0.0).broken([comparison(GOOD, BAD), losing(-3, 0)]) == ()


def test_each_loss_is_told() -> None:
    first, *_, last = Bars(0.3, 1.0).broken([losing(1.5, 2.5)])
    assert first == "greedy, all: 1.50 points of BLEU lost, at most 0.3 allowed"
    assert last == "greedy, ui: 1.25 points of chrF lost, at most 1 allowed"


def test_the_report_tells_whether_bars_are_kept() -> None:
    def lines(entry: Comparison, bars: Bars | None) -> str:
        sections = report(evaluation(), (entry,), bars).sections
        (section,) = (s for s in sections if s.title == "Compared with the baseline")
        return " ".join(section.lines)

    told = "Points of BLEU and of chrF that may be lost: 0.3 over all and 1 in a domain"
    assert f"{told}: kept." in lines(losing(0.3, 0), Bars(0.3, 1.0))
    assert f"{told}: greedy, all: 0.40 points of BLEU lost, " in lines(
        losing(0.4, 0), Bars(0.3, 1.0)
    )
    assert "may be lost" not in lines(LOST, None)
