"""Keep gRPC's own notes off the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_STANDARD_ERROR = 2
_WISHES = ("GRPC_VERBOSITY", "GRPC_TRACE")


@contextmanager
def native_notes_muted() -> Iterator[None]:
    """Drop what native code writes to standard error; what Python writes there still shows.

    gRPC logs a failed handshake there, and decides whether to when it is imported, too early for a
    command to tell it. Does nothing where the environment asks for such notes.
    """
    if any(os.environ.get(name) for name in _WISHES) or not _is_standard_error():
        yield
        return
    python_stderr, shown = sys.stderr, os.dup(_STANDARD_ERROR)
    _point_at_nothing()
    with os.fdopen(shown, "w", buffering=1, encoding="utf-8", errors="backslashreplace") as stream:
        sys.stderr = stream
        try:
            yield
        finally:
            stream.flush()
            sys.stderr = python_stderr
            os.dup2(shown, _STANDARD_ERROR)


def _is_standard_error() -> bool:
    try:
        return sys.stderr.fileno() == _STANDARD_ERROR
    except (AttributeError, OSError, ValueError):
        return False


def _point_at_nothing() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, _STANDARD_ERROR)
    os.close(nothing)
