"""Label-smoothed cross-entropy over real tokens (section 5.4)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from dragoman.training.batches import Batch
from dragoman.transformer import Transformer


def smoothed_cross_entropy(
    logits: Tensor, targets: Tensor, pad_id: int, smoothing: float
) -> Tensor:
    """Return the mean loss per real token, in nats.

    The smoothed target puts 1 - smoothing on the right token and spreads the rest evenly over the
    vocabulary. Padding takes no part: neither in the sum nor in the divisor.

    Args:
        logits: [..., vocabulary]
        targets: int64 [...], `pad_id` where a row has ended.
        pad_id: The padding token.
        smoothing: In [0, 1).
    """
    return functional.cross_entropy(
        logits.flatten(0, -2).float(),
        targets.flatten(),
        ignore_index=pad_id,
        label_smoothing=smoothing,
    )


def batch_loss(model: Transformer, batch: Batch, smoothing: float) -> Tensor:
    """Return the mean loss per real target token; padding is dropped before the projection."""
    memory = model.encode(batch.source_ids, batch.source_lengths)
    hidden = model.decode(batch.target_in, memory, batch.source_lengths)  # [batch, target, d_model]
    real = batch.target_out != model.config.pad_id
    logits = model.project(hidden[real])  # [real tokens, vocabulary]
    return smoothed_cross_entropy(logits, batch.target_out[real], model.config.pad_id, smoothing)
