"""The engines that the service is put round, as functions from sources to outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.jobs import Job
from benchmarks.models import float_model
from benchmarks.peers.engine import PeerEngine
from benchmarks.service.batching import Decode, Ids

MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Setting:
    """How an engine is run behind the service.

    Attributes:
        engine: "ctranslate2" or "transformers".
        workers: batches at the same time.
        threads: of each.
        batch_tokens: most source tokens of a batch, padding counted.
        precision: "int8", or a type of torch's.
    """

    engine: str
    workers: int
    threads: int
    batch_tokens: int
    precision: str

    def __str__(self) -> str:
        """Name it in the table's notes."""
        shape = f"{self.workers} x {self.threads} threads"
        return f"{self.precision}, {shape}, batches of {self.batch_tokens} tokens"


def open_decode(setting: Setting) -> Decode:
    """Load model (a) into an engine."""
    engine = _ctranslate2(setting) if setting.engine == "ctranslate2" else _transformers(setting)

    def decode(sources: Sequence[Ids], beam_size: int) -> list[list[int]]:
        count = len(sources)
        return engine.run(Job(list(sources), beam_size, max_tokens=MAX_TOKENS, batch_size=count))

    return decode


def _ctranslate2(setting: Setting) -> PeerEngine:
    from benchmarks.peers.ctranslate2_engine import CTranslate2, converted  # noqa: PLC0415

    return CTranslate2(converted("a"), setting.threads, setting.workers)


def _transformers(setting: Setting) -> PeerEngine:
    import torch  # noqa: PLC0415

    from benchmarks.peers.transformers_engine import Transformers  # noqa: PLC0415
    from benchmarks.peers.transformers_model import transformers_model  # noqa: PLC0415

    model = transformers_model(float_model("a")).to(getattr(torch, setting.precision))
    return Transformers(model, setting.threads)
