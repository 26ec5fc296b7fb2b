"""Memory is taken where it is used, and the pages of files are given back."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from dragoman.engine.memory import _clean_mappings, drop_pages, reserve


def resident_kib(path: Path) -> int:
    """Resident memory of all mappings of a file."""
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text(errors="replace").splitlines():
        if not line.split()[0].endswith(":"):
            inside = line.endswith(f" {path}")
        elif inside and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found


def test_reserved_memory_is_zero_and_can_be_written() -> None:
    array = reserve((3, 5, 1 << 20))
    assert (array.shape, array.dtype) == ((3, 5, 1 << 20), np.dtype(np.float32))
    assert not array[1, 2, :1000].any()
    array[2, 4, -1] = 7
    assert array[2, 4, -1] == 7
    small = reserve((3, 5), np.int8)
    assert (small.shape, small.dtype, small.nbytes) == ((3, 5), np.dtype(np.int8), 15)
    assert array.flags.c_contiguous
    assert array.flags.writeable


def test_an_array_without_elements_is_possible() -> None:
    assert reserve((0, 4)).shape == (0, 4)


@pytest.mark.parametrize("touched", [1, 5])
def test_a_write_takes_a_page_and_not_a_huge_one(touched: int) -> None:
    status = Path("/proc/self/statm")
    array = reserve((64, 1 << 20))
    before = int(status.read_text().split()[1])
    array[:touched, 0] = 1
    pages = int(status.read_text().split()[1]) - before
    assert pages < 256


def test_pages_of_a_mapped_file_are_dropped_and_come_again(tmp_path: Path) -> None:
    path = tmp_path / "weights with space.bin"
    path.write_bytes(bytes(range(256)) * 8192)
    with path.open("rb") as file:
        block = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    content = bytes(block)
    assert resident_kib(path) >= 2048
    drop_pages(path)
    assert resident_kib(path) == 0
    assert bytes(block) == content


def test_a_mapping_that_was_written_to_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(bytes(1 << 16))
    with path.open("rb") as file:
        block = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    block[5] = 9
    drop_pages(path)
    assert block[5] == 9


def test_only_clean_mappings_of_the_file_itself_are_found(tmp_path: Path) -> None:
    def mapping(start: int, name: str, anonymous: int) -> str:
        head = f"{start:08x}-{start + 0x2000:08x} r--p 00000000 08:01 42   {name}"
        return f"{head}\nRss:   8 kB\nAnonymous:   {anonymous} kB\nVmFlags: rd mr\n"

    maps = tmp_path / "smaps"
    names = [("/m/weights.bin", 0), ("/m/weights.bin", 4), ("/m/other.bin", 0), ("", 0)]
    lines = [mapping(0x1000 * (4 * i + 1), *each) for i, each in enumerate(names)]
    maps.write_text("".join(lines))
    assert list(_clean_mappings(Path("/m/weights.bin"), maps)) == [(0x1000, 0x2000)]
