"""Reading a test set: nothing bad is fatal, nothing is dropped without being counted."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from dragoman.evaluation.errors import EvaluationError
from dragoman.evaluation.sentences import pick, read_evaluation_set

LINES = (
    b"Open\t\xc3\x96ffnen\tui|app-ui|editor\n",
    b"no second column\n",
    b"Close\tSchlie\xc3\x9fen\tui|app-ui|editor\n",
    b"bad \xff\tutf-8\tui\n",
    b"\tempty\tui\n",
    b"A story.\tEine Geschichte.\tprose|ddtp|tales\n",
    b"Nobody's\tNiemands\n",
)


def write(path: Path, lines: tuple[bytes, ...] = LINES) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_lines_and_domains(tmp_path: Path) -> None:
    texts = read_evaluation_set(write(tmp_path / "test.tsv"))
    assert texts.name == "test.tsv"
    assert texts.sources == ("Open", "Close", "A story.", "Nobody's")
    assert texts.references == ("Öffnen", "Schließen", "Eine Geschichte.", "Niemands")
    assert texts.domains == ("ui", "ui", "prose", "")
    assert texts.rows_by_domain() == {"prose": (2,), "ui": (0, 1)}
    assert pick(texts.sources, (2, 0)) == ["A story.", "Open"]


def test_broken_lines_are_counted(tmp_path: Path) -> None:
    texts = read_evaluation_set(write(tmp_path / "test.tsv"))
    assert texts.rejected == {"columns": 1, "empty side": 1, "invalid UTF-8": 1}


def test_only_the_first_sentences(tmp_path: Path) -> None:
    texts = read_evaluation_set(write(tmp_path / "test.tsv"), 2)
    assert texts.sources == ("Open", "Close")
    assert texts.rejected == {"columns": 1}


def test_compressed_files(tmp_path: Path) -> None:
    plain = write(tmp_path / "test.tsv")
    packed = tmp_path / "test.tsv.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert read_evaluation_set(packed).sources == read_evaluation_set(plain).sources


def test_the_fingerprint_tells_texts_and_their_order(tmp_path: Path) -> None:
    whole = read_evaluation_set(write(tmp_path / "a.tsv"))
    same = read_evaluation_set(write(tmp_path / "b.tsv", (*LINES, b"broken\n")))
    turned = read_evaluation_set(write(tmp_path / "c.tsv", LINES[::-1]))
    assert whole.fingerprint == same.fingerprint
    assert len({whole.fingerprint, turned.fingerprint}) == 2


def test_no_usable_line(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"bad\.tsv: no usable line \(columns: 1\)"):
        read_evaluation_set(write(tmp_path / "bad.tsv", LINES[1:2]))
    with pytest.raises(EvaluationError, match="it is empty"):
        read_evaluation_set(write(tmp_path / "empty.tsv", ()))
