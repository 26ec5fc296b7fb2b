"""The graph that reads whole targets: how probable their tokens are, and what they look at."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from dragoman.engine.sessions import open_session
from dragoman.engine.tokenizer import SpecialTokens

_SIZE_STEP = 8


class ScorerSession:
    """Scores given targets of one source.

    The graph holds weights that the decoder's holds too, so it is loaded when it is first used:
    a server that never scores has no memory in it.
    """

    def __init__(self, path: Path, threads: int, special: SpecialTokens, longest: int) -> None:
        """Remember what to load.

        Args:
            path: `scorer.onnx`.
            threads: threads for one run of it.
            special: the control tokens.
            longest: most tokens of a target, end-of-sentence included.
        """
        self._path = path
        self._threads = threads
        self._special = special
        self._longest = longest
        self._session: ort.InferenceSession | None = None

    def run(
        self,
        source: NDArray[np.float32],
        targets: Sequence[tuple[int, ...]],
        lengths: Sequence[int],
        *,
        aligned: bool,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score targets of one source.

        Args:
            source: float32 [layers, 2, heads, length, head_size], as the encoder gave it.
            targets: tokens of text.
            lengths: how many tokens of each are scored: all, or one more for end-of-sentence.
            aligned: whether attention is wanted.

        Returns:
            Log-probabilities float32 [targets, positions], and attention float32
            [targets, positions, length], empty unless it is wanted; both go on beyond a target's
            length with numbers that mean nothing.

        Raises:
            BundleError: if the graph can't be loaded.
        """
        if self._session is None:
            # A run may need much memory and is rare: give it back after each.
            self._session = open_session(self._path, self._threads, keeps_memory=False)
        fed, following = self._tokens(targets, lengths)
        names = ["log_probs_of_next", "attention"][: 1 + aligned]
        found = self._session.run(names, self._inputs(source, fed, following))
        empty = np.empty((len(targets), 0, 0), np.float32)
        return found[0], found[1] if aligned else empty

    def _inputs(
        self, source: NDArray[np.float32], fed: NDArray[np.int64], following: NDArray[np.int64]
    ) -> dict[str, NDArray[np.generic]]:
        inputs: dict[str, NDArray[np.generic]] = {
            "target_ids": fed,
            "next_ids": following,
            "source_length": np.full(len(fed), source.shape[3], np.int32),
        }
        for layer, kinds in enumerate(source):
            for part, array in zip(("key", "value"), kinds, strict=True):
                inputs[f"cross_{part}_{layer}"] = np.repeat(array[None], len(fed), 0)
        return inputs

    def _tokens(
        self, targets: Sequence[tuple[int, ...]], lengths: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give what is fed and what is to follow, both int64 [targets, positions]."""
        # Few different widths: as for the encoder.
        width = min(-(-max([1, *lengths]) // _SIZE_STEP) * _SIZE_STEP, self._longest)
        special = self._special
        fed = np.full((len(targets), width), special.pad, np.int64)
        following = np.full((len(targets), width), special.pad, np.int64)
        for row, (target, length) in enumerate(zip(targets, lengths, strict=True)):
            fed[row, :length] = (special.bos, *target)[:length]
            following[row, :length] = (*target, special.eos)[:length]
        return fed, following
