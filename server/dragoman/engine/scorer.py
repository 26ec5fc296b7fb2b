"""The graph that reads a whole output at once: what its tokens look at."""

from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from dragoman.engine.bundle import WEIGHTS
from dragoman.engine.cache import Values
from dragoman.engine.memory import drop_pages
from dragoman.engine.sessions import open_session
from dragoman.engine.tokenizer import SpecialTokens

_SIZE_STEP = 8


class ScorerSession:
    """Gives the attention of outputs.

    The graph holds weights that the decoder's holds too, so it is loaded when it is first used:
    a server that never aligns has no memory in it. It gives log-probabilities too, but those of
    an int8 model may differ from a step's, and nobody asks for them.
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

    def run(self, source: Values, target: tuple[int, ...], length: int) -> NDArray[np.float32]:
        """Read one output.

        Args:
            source: [layers, 2, heads, source, head_size], as the encoder gave it.
            target: its tokens of text.
            length: how many tokens count: these, or one more for end-of-sentence.

        Returns:
            Attention float32 [length, source]: of the state that predicts each token.

        Raises:
            BundleError: if the graph can't be loaded.
        """
        if self._session is None:
            # A run may need much memory and is rare: give it back after each.
            self._session = open_session(self._path, self._threads, keeps_memory=False)
            drop_pages(self._path.with_name(WEIGHTS))
        attention = self._session.run(["attention"], self._inputs(source, target, length))[0]
        return attention[0, :length]  # type: ignore[no-any-return]

    def _inputs(
        self, source: Values, target: tuple[int, ...], length: int
    ) -> dict[str, NDArray[np.generic]]:
        # Few different widths: as for the encoder.
        width = min(-(-max(1, length) // _SIZE_STEP) * _SIZE_STEP, self._longest)
        fed = np.full((1, width), self._special.pad, np.int64)
        fed[0, :length] = (self._special.bos, *target)[:length]
        inputs: dict[str, NDArray[np.generic]] = {
            "target_ids": fed,
            "next_ids": np.full_like(fed, self._special.pad),
            "source_length": np.array([source.shape[3]], np.int32),
        }
        for layer, kinds in enumerate(source):
            for part, array in zip(("key", "value"), kinds, strict=True):
                inputs[f"cross_{part}_{layer}"] = array[None]
        return inputs
