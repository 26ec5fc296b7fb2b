"""Memory that is taken only where it is used."""

import ctypes
import math
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_MAPS = Path("/proc/self/smaps")


def reserve(shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Give an array of zeros that takes memory page by page, where it is written.

    numpy asks for huge pages for large arrays: a write to one row would take 2 MiB for a few
    hundred bytes.
    """
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    block = mmap.mmap(-1, max(1, np.dtype(dtype).itemsize * math.prod(shape)), private)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        block.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(block, dtype, math.prod(shape)).reshape(shape)


def drop_pages(path: Path) -> None:
    """Give back the memory of a file's mapped pages; those that are still needed come again.

    ONNX Runtime maps the weights and lays most of them out anew in memory of its own, after which
    few of the file's pages are ever read. Mappings that were written to are left alone.
    """
    if not sys.platform.startswith("linux"):
        return
    madvise = ctypes.CDLL(None).madvise
    for start, size in _clean_mappings(path.resolve(), _MAPS):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.MADV_DONTNEED)


def _clean_mappings(path: Path, maps: Path) -> Iterator[tuple[int, int]]:
    """Give start and size of each mapping of a file none of whose pages differ from it."""
    current: tuple[int, int] | None = None
    for line in maps.read_text(errors="replace").splitlines():
        first, *rest = line.split(maxsplit=5)
        if not first.endswith(":"):
            start, end = (int(place, 16) for place in first.split("-"))
            current = (start, end - start) if rest[4:] == [str(path)] else None
        elif first == "Anonymous:" and current is not None and rest[0] == "0":
            yield current
