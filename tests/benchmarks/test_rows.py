"""The table: figures, verdicts, notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from benchmarks.__main__ import row_from
from benchmarks.options import write
from benchmarks.rows import Row, markdown


@pytest.mark.parametrize(
    ("better", "figure", "verdict"),
    [
        ("lower", 0.35, "aim met"),
        ("lower", 0.5, "met"),
        ("lower", 0.6, "met"),
        ("lower", 0.75, "missed by 25%"),
        ("higher", 0.45, "missed by 25%"),
        ("higher", 0.7, "aim met"),
        ("lower", None, "not measured"),
    ],
)
def test_a_bar_is_met_or_missed_by_a_share_of_it(
    better: Literal["lower", "higher"], figure: float | None, verdict: str
) -> None:
    aim = 0.4 if better == "lower" else 0.65
    row = Row(measure="m", model="b", against="p", figure=figure, bar=0.6, aim=aim, better=better)
    assert row.verdict == verdict


def test_without_a_bar_there_is_no_verdict() -> None:
    assert not Row(measure="m", model="b", against="p", figure=2.0).verdict


def test_the_table_numbers_its_notes() -> None:
    rows = [
        Row(measure="fast", model="a", against="p", figure=0.5, bar=0.6, wall=0.5, cpu=0.4),
        Row(measure="share", model="b", against="p", figure=9.3, unit="%", note="why"),
        Row(measure="rate", model="a", against="q", figure=2.0, better="higher", bar=1.3, note="n"),
        Row(measure="gone", model="a", against="q", figure=None, note="why"),
    ]
    lines = markdown(rows).splitlines()
    assert lines[2] == "| fast | a | p | 0.50 x | <= 0.60 x |  | met | 0.50 x | 0.40 x |"
    assert lines[3] == "| share [1] | b | p | 9.3 % |  |  |  |  |  |"
    assert lines[4] == "| rate [2] | a | q | 2.00 x | >= 1.30 x |  | met |  |  |"
    assert lines[5] == "| gone [1] | a | q |  |  |  | not measured |  |  |"
    assert lines[6:] == ["", "[1] why", "[2] n"]
    assert {line.count("|") for line in lines[:6]} == {10}


def test_rows_come_back_from_json(tmp_path: Path) -> None:
    row = Row(measure="m", model="b", against="p", figure=0.5, bar=0.6, details={"rounds": 3})
    path = tmp_path / "results" / "bench.json"
    write(path, {"cores": 2}, [row.to_dict()])
    content = json.loads(path.read_text())
    assert content["machine"] == {"cores": 2}
    assert content["rows"][0]["verdict"] == "met"
    assert row_from(content["rows"][0]) == row
