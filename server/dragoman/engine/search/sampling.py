"""Draw a token by chance, with numbers that depend on a seed and a position alone."""

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.decoding import SamplingOptions
from dragoman.engine.search.ranking import best_places

_WORD = (1 << 64) - 1
_NUCLEUS_SIZES = (64, 1024)


def uniform(seed: int, index: int, position: int) -> float:
    """Give a number in [0, 1) by the counter-based generator Philox4x64-10.

    Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3". There is no state: each number
    is a function of its coordinates.

    Args:
        seed: a signed 64-bit integer.
        index: which of several independent samples.
        position: the token's place in the output.
    """
    key = np.array([seed & _WORD, index], np.uint64)
    bits = np.random.Philox(key=key, counter=position).random_raw()
    return float(int(bits) >> 11) * 2.0**-53


class Sampler:
    """Draws the tokens of one sample."""

    def __init__(self, options: SamplingOptions, index: int) -> None:
        """Remember the options of a request that was checked, and which sample this is."""
        self._options = options
        self._index = index

    def draw(self, values: NDArray[np.float32], position: int) -> int:
        """Give the place of the value that is drawn.

        Args:
            values: float32 [n], log-probabilities, of which minus infinity is never drawn; at
                least one is finite.
            position: the place in the output of the token that is drawn.
        """
        scaled = values.astype(np.float64) / self._options.temperature
        weights = np.exp(scaled - scaled.max())
        places = self._narrow(scaled, weights)
        sums = np.cumsum(weights if places is None else weights[places])
        wanted = uniform(self._options.seed, self._index, position) * sums[-1]
        # The largest numbers below 1 may be rounded up to the very sum.
        found = int(min(np.searchsorted(sums, wanted, "right"), np.searchsorted(sums, sums[-1])))
        return found if places is None else int(places[found])

    def _narrow(
        self, scaled: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.int64] | None:
        """Give the places that remain, or None for all."""
        options = self._options
        places = best_places(scaled, options.top_k) if options.top_k else None
        if options.top_p < 1:
            places = _nucleus(scaled, weights, places, options.top_p)
        if options.min_p > 0:
            places = np.arange(len(weights)) if places is None else places
            # The largest weight is 1.
            places = places[weights[places] >= options.min_p]
        return places


def _nucleus(
    scaled: NDArray[np.float64],
    weights: NDArray[np.float64],
    ordered: NDArray[np.int64] | None,
    share: float,
) -> NDArray[np.int64]:
    """Give the fewest best places whose weights reach a share of all the weights.

    Args:
        scaled: float64 [n], what orders the places.
        weights: float64 [n], none negative.
        ordered: the places that count, best first; None for all.
        share: above 0, below 1.
    """
    if ordered is not None:
        return _shortest(weights, ordered, share * weights[ordered].sum())
    wanted = share * weights.sum()
    for size in _NUCLEUS_SIZES:
        ordered = best_places(scaled, size)
        if weights[ordered].sum() > wanted:
            return _shortest(weights, ordered, wanted)
    return _shortest(weights, best_places(scaled, len(scaled)), wanted)


def _shortest(
    weights: NDArray[np.float64], ordered: NDArray[np.int64], wanted: float
) -> NDArray[np.int64]:
    count = int(np.searchsorted(np.cumsum(weights[ordered]), wanted)) + 1
    return ordered[:count]
