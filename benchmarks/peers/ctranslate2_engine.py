"""CTranslate2, driven as its own documents advise."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import ctranslate2


@dataclass(frozen=True, slots=True)
class Job:
    """Sentences to decode together and how."""

    sources: list[tuple[int, ...]]
    beam_size: int = 1
    forced_tokens: int | None = None
    max_tokens: int = 256


class CTranslate2:
    """int8 weights, one worker, `threads` threads."""

    name = "CTranslate2 int8"

    def __init__(self, path: Path, threads: int) -> None:
        self._translator = ctranslate2.Translator(
            str(path), compute_type="int8", inter_threads=1, intra_threads=threads
        )
        vocabulary = (path / "shared_vocabulary.json").read_text(encoding="utf-8")
        self._pieces: list[str] = json.loads(vocabulary)

    def run(self, job: Job) -> int:
        """Decode and return the number of output tokens, EOS not counted."""
        sources = [[self._pieces[token] for token in source] for source in job.sources]
        forced = job.forced_tokens
        results = self._translator.translate_batch(
            sources,
            beam_size=job.beam_size,
            length_penalty=0.6,
            max_batch_size=32,
            batch_type="examples",
            max_decoding_length=forced or job.max_tokens,
            min_decoding_length=forced or 1,
            max_input_length=0,
        )
        return sum(len(result.hypotheses[0]) for result in results)


def cpu_and_wall() -> tuple[float, float]:
    """Processor seconds of this process and wall-clock seconds."""
    return time.process_time(), time.perf_counter()
