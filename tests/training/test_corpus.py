import lzma
from collections import Counter
from pathlib import Path

import pytest

from dragoman.training.corpus import Pair, read_pairs

LINES = [
    b"One\tEins\tui\n",
    b"Two\tZwei\r\n",
    b"\tleer\n",
    b"only one column\n",
    b"bad \xff byte\tx\n",
    b"Three\tDrei\tgame",
]


def test_bad_lines_are_counted_and_never_fatal(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_bytes(b"".join(LINES))
    rejected: Counter[str] = Counter()
    pairs = list(read_pairs((str(path),), rejected))
    assert pairs == [Pair("One", "Eins", "ui"), Pair("Two", "Zwei"), Pair("Three", "Drei", "game")]
    assert rejected == {"empty side": 1, "columns": 1, "invalid UTF-8": 1}


def test_compressed_data_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv.xz"
    path.write_bytes(lzma.compress(b"".join(LINES)))
    assert len(list(read_pairs((str(path),), Counter()))) == 3


@pytest.mark.parametrize(("left", "right"), [(3, 2), (2, 3)])
def test_aligned_files_of_different_length_lose_only_the_rest(
    tmp_path: Path, left: int, right: int
) -> None:
    names = (str(tmp_path / "data.en"), str(tmp_path / "data.de"))
    Path(names[0]).write_text("".join(f"e{i}\n" for i in range(left)), encoding="utf-8")
    Path(names[1]).write_text("".join(f"d{i}\n" for i in range(right)), encoding="utf-8")
    rejected: Counter[str] = Counter()
    pairs = list(read_pairs((names,), rejected))
    assert [(pair.source, pair.target) for pair in pairs] == [("e0", "d0"), ("e1", "d1")]
    assert rejected == {"unaligned": 1}
