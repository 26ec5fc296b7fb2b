"""What is printed and what the card says."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from dragoman.evaluation.comparison import compare
from dragoman.evaluation.figures import signatures
from dragoman.evaluation.format import percent, signed, survived
from dragoman.evaluation.rates import Rate
from dragoman.evaluation.rendering import card, show
from dragoman.evaluation.report import Report, report
from dragoman.evaluation.results import Baseline, Evaluation
from dragoman.evaluation.translating import Decoding
from tests.evaluation.samples import BAD, GOOD, MODEL, TEST, evaluation, result

FIGURE = re.compile(r"\d[\d,.]*\d|\d")


def printed(told: Report, width: int = 160) -> str:
    stream = io.StringIO()
    show(told, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def compared() -> Report:
    comparison = compare(
        TEST, result(BAD), Baseline("models/before, fp32", TEST.fingerprint, {"greedy": GOOD})
    )
    return report(evaluation(), (comparison,))


def cells(text: str, first: str) -> list[list[str]]:
    """The rows of the card that begin with a cell."""
    rows = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_card_tells_data_steps_tokens_hours_and_licence() -> None:
    text = card(report(evaluation()))
    assert text.startswith("# English to German, small\n\nTranslates en to de: BLEU ")
    for row in (
        "| steps | 12,345 |",
        "| target tokens seen | 67,890,123 |",
        "| sentence pairs | 1,554,638 |",
        "| parameters | 7,654,321 |",
        "| hours | 12.5 |",
        "| licence | GPL-3.0-or-later AND CC-BY-SA-4.0 |",
        "| precision | int8 |",
        "| app-ui | 398,232 | various |  |",
        "| ding | 444,258 | GPL-2.0-or-later | https://example.org/ding |",
    ):
        assert row in text


def test_the_card_tells_the_certificate() -> None:
    text = card(report(evaluation()))
    steps, int8 = (
        cells(text, name)[0] for name in (r"stepped\_equals\_uncached", r"int8\_chrf\_loss")
    )
    assert steps[1:4] == ["3.2e-05", "0.0001", "nats"]
    assert int8 == [r"int8\_chrf\_loss", "0.12", "1", "chrF", "on dev text"]


def test_the_card_tells_figures_per_domain() -> None:
    text = card(report(evaluation()))
    quality, survival = cells(text, "all")
    assert quality[1] == "4"
    assert quality[5:] == ["25.00 %", "25.00 %", "25.00 %"]
    assert survival == ["all", "0.0 % of 1", "100.0 % of 1", "0.0 % of 1"]
    assert cells(text, "ui")[0][5:] == ["50.00 %", "0.00 %", "0.00 %"]
    assert cells(text, "prose")[1] == ["prose", "-", "-", "0.0 % of 1"]
    assert cells(text, "references")[0] == ["references", "4", "", "", "", *["0.00 %"] * 3]
    assert "Sentences refused by the server, counted as empty translations: 1." in text
    assert "Lines left out: columns 3." in text


def test_the_card_tells_signatures_definitions_and_limits() -> None:
    text = card(report(evaluation()))
    for signature in signatures().values():
        assert f"`{signature}`" in text
    assert TEST.fingerprint in text
    assert "## Limits" in text
    assert "255 tokens" in text
    assert "(domains: prose, ui)" in text


@pytest.mark.parametrize("told", [report(evaluation()), compared()], ids=["alone", "compared"])
def test_every_figure_of_the_card_is_printed(told: Report) -> None:
    """The notes on the method speak of thresholds; figures of the model are in the sections."""
    text = card(replace(told, notes=()))
    assert set(FIGURE.findall(text)) <= set(FIGURE.findall(printed(told)))
    for section in told.sections:
        assert f"## {section.title}" in text
        assert section.title in printed(told)


def test_the_card_names_no_place_on_a_machine() -> None:
    text = card(compared())
    assert "/srv" not in text
    assert "file:" not in text
    assert re.search(r"(?<![\w.:/])/\w", text) is None


def test_a_comparison_shows_gains_and_significance() -> None:
    text = card(compared())
    assert "What greedy gains over models/before, fp32, greedy" in text
    row = cells(text, "all")[-1]
    assert row[1].startswith("-")
    assert 0 < float(row[2]) <= 1
    assert row[5:] == ["+25.00", "+25.00", "+25.00", "4 of 4"]


def test_each_decoding_has_tables_of_its_own() -> None:
    beam = Decoding("beam", {"max_output_tokens": 9})
    text = card(report(evaluation(result(BAD), result(GOOD, beam))))
    assert "## Quality, greedy\n" in text
    assert r"## Quality, beam, max_output_tokens 9" in text
    assert len(cells(text, "all")) == 4


def test_what_a_bundle_does_not_say() -> None:
    bare = replace(MODEL, training=None, certificate=(), data_origins=())
    text = card(report(Evaluation(bare, TEST, (result(),))))
    assert text.count("The bundle does not say.") == 3


def test_markup_in_names_is_shown_as_it_is() -> None:
    odd = replace(MODEL, license="[bold]*mine*|yours", display_name="[red]x")
    told = report(Evaluation(odd, TEST, (result(),)))
    assert r"| licence | [bold]\*mine\*\|yours |" in card(told)
    assert "[bold]*mine*|yours" in printed(told)
    assert "[red]x" in printed(told)


def test_a_narrow_terminal_loses_no_figure() -> None:
    wide, narrow = (set(FIGURE.findall(printed(compared(), width))) for width in (160, 80))
    assert {figure for figure in wide if len(figure) < 8} <= narrow


def test_how_figures_are_written() -> None:
    assert signed(-0.001) == "+0.00"
    assert signed(-0.3) == "-0.30"
    assert percent(Rate(0, 0)) == survived(Rate(0, 0)) == "-"
