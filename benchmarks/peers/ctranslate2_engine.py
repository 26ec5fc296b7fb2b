"""CTranslate2, driven as its own documents advise."""

from __future__ import annotations

from pathlib import Path

import ctranslate2

from benchmarks.jobs import Job
from benchmarks.models import ModelName, float_model, kept
from benchmarks.peers.ctranslate2_model import write_ctranslate2


def open_engine(model: ModelName, threads: int) -> CTranslate2:
    """Load CTranslate2 with a model."""
    return CTranslate2(converted(model), threads)


def converted(model: ModelName) -> Path:
    """Give a model in CTranslate2's format, in float32; loading it rounds it to int8."""
    return kept(f"ctranslate2-{model}", lambda path: write_ctranslate2(float_model(model), path))


class CTranslate2:
    """int8 weights; `workers` batches at a time, `threads` threads each.

    A call sorts its sentences by length itself. Which library multiplies is left to CTranslate2: on
    the AMD processor that we measured, what it chooses is several times as fast as MKL.
    """

    def __init__(self, path: Path, threads: int, workers: int = 1) -> None:
        self._translator = ctranslate2.Translator(
            str(path), compute_type="int8", inter_threads=workers, intra_threads=threads
        )

    def run(self, job: Job) -> list[list[int]]:
        """Decode; see `PeerEngine`. Threads may call it at the same time."""
        forced = job.forced_tokens
        results = self._translator.translate_batch(
            [[str(token) for token in source[:-1]] + ["</s>"] for source in job.sources],
            beam_size=job.beam_size,
            length_penalty=0.6,
            max_batch_size=job.batch_size,
            batch_type="examples",
            max_decoding_length=forced or job.max_tokens,
            min_decoding_length=forced or 1,
            max_input_length=0,
        )
        return [_ids(result.hypotheses[0]) for result in results]


def _ids(pieces: list[str]) -> list[int]:
    return [int(piece) if piece.isdigit() else 1 for piece in pieces]
