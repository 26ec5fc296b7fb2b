"""`transformers` in the same harness: `generate`, as its documents advise for speed on a CPU."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.jobs import Job
from benchmarks.models import ModelName, float_model
from benchmarks.peers.engine import until_eos
from benchmarks.peers.transformers_model import transformers_model


def open_engine(model: ModelName, threads: int) -> Transformers:
    """Load `transformers` with a model."""
    return Transformers(transformers_model(float_model(model)), threads)


# It ends as soon as there are enough finished ones, as CTranslate2 does: the rule that costs least.
_BEAM = {"early_stopping": True, "length_penalty": 0.6}


class Transformers:
    """float32, or whatever type the model has; fused attention, caches, batches by length."""

    def __init__(self, model: Any, threads: int) -> None:
        torch.set_num_threads(threads)
        self._model = model
        self._special = {
            "pad_token_id": 0,
            "bos_token_id": 2,
            "eos_token_id": 3,
            "decoder_start_token_id": 2,
        }

    @torch.inference_mode()
    def run(self, job: Job) -> list[list[int]]:
        """Decode; see `PeerEngine`."""
        outputs: list[list[int]] = [[] for _ in job.sources]
        for places in job.batches():
            found = self._generate(job, [job.sources[place] for place in places])
            for place, ids in zip(places, found, strict=True):
                outputs[place] = ids
        return outputs

    def _generate(self, job: Job, sources: list[tuple[int, ...]]) -> list[list[int]]:
        width = max(map(len, sources))
        ids = torch.tensor([[*source, *([0] * (width - len(source)))] for source in sources])
        found = self._model.generate(
            input_ids=ids,
            attention_mask=(ids != 0).long(),
            num_beams=job.beam_size,
            do_sample=False,
            max_new_tokens=job.forced_tokens or job.max_tokens,
            **({} if job.forced_tokens is None else {"min_new_tokens": job.forced_tokens}),
            **(_BEAM if job.beam_size > 1 else {}),
            **self._special,
        )
        return [until_eos(row[1:]) for row in found.tolist()]
