"""Finding the best tokens of each row without ordering the whole vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dragoman.export.operators import flatten_groups, gather_groups, top

_WIDEST = 128
_NARROWEST = 8


class Candidates(nn.Module):
    """The k best tokens of each row, equal ones lowest id first.

    The vocabulary is cut into groups of neighbours. The k best tokens stand in the k groups with
    the best maxima (whatever stands elsewhere has k tokens before it), and taking maxima is several
    times as fast as searching; so only the tokens of k groups are searched.
    """

    ids: Tensor

    def __init__(self, vocabulary_size: int) -> None:
        super().__init__()
        self.width = group_width(vocabulary_size)
        self.groups = vocabulary_size // self.width
        self.register_buffer("ids", torch.arange(self.width))

    def forward(self, logits: Tensor, count: Tensor) -> Tensor:
        """Return int64 [rows, k], best first.

        Args:
            logits: [rows, vocabulary]
            count: k, int64 [1]
        """
        if self.width == 1:
            return top(logits, count)[1]
        grouped = logits.view(-1, self.groups, self.width)
        _, best = top(grouped.amax(2), count.clamp(max=self.groups))
        # In order of their ids, so that of equal tokens the lowest id stands first here too.
        best, _ = top(best, count.clamp(max=self.groups), largest=False)
        found = flatten_groups(gather_groups(grouped, best))
        ids = flatten_groups(best.unsqueeze(2) * self.width + self.ids)
        return ids.gather(1, top(found, count)[1])


def group_width(vocabulary_size: int) -> int:
    """Return the width that leaves the fewest values to look at for one candidate, 1 for none."""
    widths = [w for w in range(_NARROWEST, _WIDEST + 1) if vocabulary_size % w == 0]
    return min(widths, key=lambda width: width + vocabulary_size // width, default=1)
