"""What searches know about tokens."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.bundle import TOKENIZER
from dragoman.engine.errors import BundleError
from dragoman.engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Tokens by what they may be used for.

    Attributes:
        size: number of tokens.
        bos: the token that every target begins with.
        eos: the token that ends a sentence.
        never: tokens that no output contains.
        word_starts: int64 [n], rising ids of the pieces that begin a word.
    """

    size: int
    bos: int
    eos: int
    never: frozenset[int]
    word_starts: NDArray[np.int64]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "Vocabulary":
        """Sort a tokenizer's pieces.

        Raises:
            BundleError: where no piece begins a word.
        """
        special = tokenizer.special
        starts = [token for token in range(tokenizer.size) if tokenizer.starts_word(token)]
        if not starts:
            raise BundleError(TOKENIZER, "has no piece that begins with U+2581")
        never = frozenset((special.pad, special.unk, special.bos))
        return cls(tokenizer.size, special.bos, special.eos, never, np.array(starts, np.int64))
