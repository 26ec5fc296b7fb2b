"""Keeping freed memory: a training step frees and asks for the same large blocks again."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_NEVER = 2**31 - 1
_GROW_BY = 64 * 2**20


def keep_freed_memory() -> bool:
    """Tell glibc's allocator to keep what is freed, and to map no block on its own.

    Otherwise every large tensor is mapped, zeroed page by page and unmapped again in each step.
    Returns false where the C library has no such switch.
    """
    switch = getattr(ctypes.CDLL(None), "mallopt", None)
    if switch is None:
        return False
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _NEVER), (_TOP_PAD, _GROW_BY))
    return all(switch(name, value) == 1 for name, value in settings)
