"""``dragoman translate --attention``: a picture, or one line that says why there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.client import _attention, cli
from dragoman.client.results import Alignment, FinishReason, Hypothesis, OutputToken, SourceToken

ENGLISH = "four hundred twenty-one"
GERMAN = "vierhunderteinundzwanzig"
PNG = b"\x89PNG\r\n\x1a\n"


def test_a_picture_of_a_translation(
    real: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.png"
    assert cli.main(["translate", "--address", real, "--attention", str(path), ENGLISH]) == 0
    assert capfd.readouterr().out == f"{GERMAN}\n"
    assert path.read_bytes().startswith(PNG)


def test_a_blank_text_has_no_picture(
    real: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.png"
    assert cli.main(["translate", "--address", real, "--attention", str(path), " "]) == 0
    assert capfd.readouterr().err == "dragoman: nothing was translated that could be drawn\n"
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--attention", "out.png"], "one text"),
        (["--attention", "out.png", "one", "two"], "one text"),
        (["--attention", "out.png", "--stream", "one"], "one text"),
        (["--attention", "out.gif", "one"], "'out.gif' must end in .png, .svg, .pdf"),
    ],
)
def test_what_cannot_be_drawn_is_a_wrong_use(
    arguments: list[str], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["translate", "--address", "127.0.0.1:1", *arguments]) == 2
    errors = capfd.readouterr().err
    assert problem in errors
    assert errors.count("\n") == 1


def test_a_missing_extra_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert cli.main(["translate", "--attention", "out.png", "one"]) == 2
    errors = capfd.readouterr().err
    assert errors.startswith("dragoman: --attention needs more (")
    assert errors.endswith("): pip install 'dragoman[export]'\n")
    assert errors.count("\n") == 1


def test_labels_are_shown_as_they_are(tmp_path: Path) -> None:
    """A pair of dollar signs is no formula, and a picture is made of any tokens."""
    tokens = tuple(
        OutputToken(token_id=9, piece=piece, text=piece, log_probability=-1.0)
        for piece in ("\u2581$x", "_{", "</s>")
    )
    source = tuple(
        SourceToken(token_id=9, piece=piece, text=piece) for piece in ("\\frac$", "</s>")
    )
    hypothesis = Hypothesis(
        text="$x_{",
        score=-1.0,
        log_probability=-3.0,
        finish_reason=FinishReason.STOP,
        tokens=tokens,
        term_results=(),
        alignment=Alignment(
            source_tokens=source,
            attention=((0.9, 0.1), (0.5, 0.5), (0.0, 1.0)),
            links=(0, 0),
        ),
    )
    path = tmp_path / "out.svg"
    _attention.draw_hypothesis(hypothesis, path)
    assert "<svg" in path.read_text(encoding="utf-8")
