"""Curves of training runs, read and drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.client.cli import main
from dragoman.evaluation.curve import Curve, Point, read_curve
from dragoman.evaluation.errors import EvaluationError
from dragoman.evaluation.plot import Against, draw


def dev(step: int, **figures: float | None) -> dict[str, Any]:
    measured = {"loss": 3.0, "bleu": step / 100, "chrf": step / 50, **figures}
    return {"step": step, "target_tokens": step * 3000, "seconds": step * 1.8, "dev": measured}


def log(folder: Path, *rows: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_the_points_are_the_rows_of_the_dev_set(tmp_path: Path) -> None:
    run = log(tmp_path / "adam", {"step": 20, "loss": 5.0}, dev(500), {"step": 520}, dev(1000))
    curve = read_curve(str(run))
    assert curve.label == "adam"
    assert curve.points[0] == Point(500, 1_500_000, 900.0, 5.0, 10.0, 3.0)
    assert [point.step for point in curve.points] == [500, 1000]
    assert read_curve(str(run / "log.jsonl")) == curve


def test_a_resumed_run_counts_once(tmp_path: Path) -> None:
    run = log(tmp_path / "run", dev(500), dev(1000), dev(1500), dev(1000, bleu=11.0), dev(1500))
    points = read_curve(str(run)).points
    assert [point.step for point in points] == [500, 1000, 1500]
    assert points[1].bleu == 11.0


def test_a_torn_line_is_counted(tmp_path: Path) -> None:
    run = log(tmp_path / "run", dev(500), '{"step": 5', "[]", dev(1000), {"dev": {}})
    curve = read_curve(str(run))
    assert (len(curve.points), curve.unreadable) == (2, 3)


def test_a_run_can_have_another_name(tmp_path: Path) -> None:
    run = log(tmp_path / "run", dev(500))
    assert read_curve(f"the other={run}").label == "the other"
    odd = log(tmp_path / "lr=3", dev(500))
    assert read_curve(str(odd)).label == "lr=3"


def test_a_log_without_a_dev_set(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no figures of a dev set"):
        read_curve(str(log(tmp_path / "run", {"step": 20, "loss": 5.0})))


def test_a_real_run(tiny_run: Path) -> None:
    (point,) = read_curve(str(tiny_run / "run")).points
    assert point.chrf is not None
    assert point.chrf > 90
    assert point.target_tokens > 0
    assert point.seconds > 0


def test_a_drawing_names_runs_and_axes(tmp_path: Path) -> None:
    runs = [str(log(tmp_path / name, dev(500), dev(1000))) for name in ("muon", "adam")]
    output = tmp_path / "curve.svg"
    assert main(["plot-training", *runs, "-o", str(output)]) == 0
    text = output.read_text()
    assert all(f">{name}</text>" in text for name in ("muon", "adam", "BLEU of the dev set"))
    assert "target tokens seen, millions" in text
    assert str(tmp_path) not in text


def test_one_run_is_drawn_against_hours_without_a_legend(tmp_path: Path) -> None:
    run, output = log(tmp_path / "alone", dev(500), dev(1000)), tmp_path / "curve.svg"
    assert main(["plot-training", str(run), "-o", str(output), "--against", "hours"]) == 0
    assert "hours of training" in output.read_text()
    assert ">alone<" not in output.read_text()


def test_the_same_curves_give_the_same_file(tmp_path: Path) -> None:
    curve = read_curve(str(log(tmp_path / "run", dev(500), dev(1000))))
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    draw([curve], first)
    draw([curve], second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_other_forms(tmp_path: Path, suffix: str, magic: bytes) -> None:
    output = tmp_path / f"curve{suffix}"
    draw([read_curve(str(log(tmp_path / "run", dev(500))))], output)
    assert output.read_bytes().startswith(magic)


def test_a_quality_that_was_not_measured_leaves_its_panel_empty(tmp_path: Path) -> None:
    other = read_curve(str(log(tmp_path / "other", dev(500, loss=None), dev(900, loss=None))))
    assert other.points[0].loss is None
    empty = Curve("none", (Point(1, 1, 1.0, None, None, None),), 0)
    draw([other, empty], tmp_path / "curve.svg", Against.HOURS)
    assert ">none</text>" in (tmp_path / "curve.svg").read_text()


def test_torn_lines_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = log(tmp_path / "run", dev(500), "{")
    assert main(["plot-training", str(run), "-o", str(tmp_path / "curve.svg")]) == 0
    assert capsys.readouterr().err == "run: unreadable lines left out: 1\n"


@pytest.mark.parametrize(
    ("run", "output", "message"),
    [
        ("missing", "curve.svg", "No such file or directory: 'missing'"),
        ("run", "curve.txt", "curve.txt: must end in .svg, .png, .pdf"),
        ("run", "nowhere/curve.svg", "No such file or directory: 'nowhere/curve.svg'"),
    ],
)
def test_one_line_for_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    run: str,
    output: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    log(tmp_path / "run", dev(500))
    assert main(["plot-training", run, "-o", output]) == 1
    told = capsys.readouterr().err
    assert told.startswith("dragoman plot-training: ")
    assert told.endswith(f"{message}\n")
    assert told.count("\n") == 1
