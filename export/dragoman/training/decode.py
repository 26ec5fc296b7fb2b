"""Plain greedy decoding without a cache: slow, simple, the yardstick of everything faster."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dragoman.training.batches import make_batch
from dragoman.transformer import Transformer


@torch.no_grad()
def greedy(
    model: Transformer, sources: list[list[int]], max_tokens: int, batch_size: int = 32
) -> list[list[int]]:
    """Return the most probable continuation of each source, without BOS and EOS.

    Args:
        model: In evaluation mode.
        sources: Token ids, each ending with EOS.
        max_tokens: Tokens of an output at most, EOS counted.
        batch_size: Sources decoded together, of about equal length.
    """
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    outputs: list[list[int]] = [[] for _ in sources]
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        arrays = [np.asarray(sources[row], np.uint16) for row in rows]
        for row, output in zip(rows, _decode(model, arrays, max_tokens), strict=True):
            outputs[row] = output
    return outputs


def _decode(
    model: Transformer, sources: list[NDArray[np.uint16]], max_tokens: int
) -> list[list[int]]:
    config = model.config
    device = model.embedding.weight.device
    batch = make_batch(sources, [np.asarray([config.eos_id], np.uint16)] * len(sources)).to(device)
    memory = model.encode(batch.source_ids, batch.source_lengths)
    target = batch.target_in  # [batch, 1], BOS
    ended = torch.zeros(len(sources), dtype=torch.bool, device=device)
    for _ in range(max_tokens):
        hidden = model.decode(target, memory, batch.source_lengths)[:, -1]
        token = model.project(hidden).float().argmax(-1).masked_fill(ended, config.pad_id)
        target = torch.cat((target, token.unsqueeze(1)), dim=1)
        ended |= token == config.eos_id
        if bool(ended.all()):
            break
    return [_strip(row, config.eos_id) for row in target[:, 1:]]


def _strip(row: Tensor, eos_id: int) -> list[int]:
    ids: list[int] = row.tolist()
    return ids[: ids.index(eos_id)] if eos_id in ids else ids
