"""Writes what the measures load, so that no time limit of theirs is spent on it.

    python -m benchmarks.prepare [--json FILE]

The base model's bundle, and both models in CTranslate2's format and as optimum's graphs. What is
there already stays; a peer that can't be had is told by its own rows.
"""

from __future__ import annotations

from benchmarks.models import ModelName, bundle
from benchmarks.options import Options, command
from benchmarks.peers.process import PeerError, Worker
from benchmarks.rows import Row

WRITTEN: tuple[tuple[str, ModelName], ...] = (
    ("ctranslate2", "a"),
    ("ctranslate2", "b"),
    ("optimum", "b"),
)


def measure(_options: Options) -> list[Row]:
    """Write; there is nothing to tell."""
    bundle("b")
    for peer, model in WRITTEN:
        try:
            with Worker(peer, model):
                pass
        except PeerError:
            continue
    return []


if __name__ == "__main__":
    command(measure, __doc__)
