"""What an engine under test is to the benchmarks, and how one is opened by name."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from benchmarks.jobs import Job
from benchmarks.models import ModelName

_MODULES = {
    "dragoman": "benchmarks.peers.dragoman_engine",
    "ctranslate2": "benchmarks.peers.ctranslate2_engine",
    "transformers": "benchmarks.peers.transformers_engine",
    "optimum": "benchmarks.peers.optimum_engine",
}
PEERS = tuple(_MODULES)


class PeerEngine(Protocol):
    """An engine under test."""

    def run(self, job: Job) -> list[list[int]]:
        """Decode; give the best output of each source in their order, end-of-sentence left off."""


class _Module(Protocol):
    def open_engine(self, model: ModelName, threads: int) -> PeerEngine: ...


def open_engine(peer: str, model: ModelName, threads: int) -> PeerEngine:
    """Load an engine with a model; packages that only it needs are imported now."""
    module = cast(_Module, import_module(_MODULES[peer]))
    return module.open_engine(model, threads)


def until_eos(ids: list[int], eos: int = 3) -> list[int]:
    """Cut ids off before the first end-of-sentence."""
    return ids[: ids.index(eos)] if eos in ids else ids
