"""The trained Transformer as a model for the slow searches: the whole target anew at each step."""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from dragoman.training.checkpoint import load_model
from dragoman.transformer import Transformer


@functools.cache
def reference(checkpoint: Path, source_ids: tuple[int, ...]) -> TransformerModel:
    """Give the model of one source; what it has computed is kept."""
    return TransformerModel(_load(checkpoint), source_ids)


@functools.cache
def _load(checkpoint: Path) -> Transformer:
    return load_model(checkpoint)[0].eval()


class TransformerModel:
    """Log-probabilities of the token after an output, by PyTorch and without any cache."""

    def __init__(self, model: Transformer, source_ids: tuple[int, ...]) -> None:
        self._model = model
        self._lengths = torch.tensor([len(source_ids)])
        with torch.inference_mode():
            self._memory = model.encode(torch.tensor([source_ids]), self._lengths)
        self._known: dict[tuple[int, ...], torch.Tensor] = {}

    def __call__(self, tokens: tuple[int, ...]) -> torch.Tensor:
        if tokens not in self._known:
            target = torch.tensor([[self._model.config.bos_id, *tokens]])
            with torch.inference_mode():
                hidden = self._model.decode(target, self._memory, self._lengths)
                logits = self._model.project(hidden[0, -1])
                self._known[tokens] = torch.log_softmax(logits, dim=-1)
        return self._known[tokens]
