"""Order by falling value; equal values by rising place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def best_places(values: NDArray[np.floating[Any]], count: int) -> NDArray[np.int64]:
    """Give the places of the largest values, largest first, equal ones by lowest place.

    Args:
        values: float [n], without NaN.
        count: how many places; all n where there are fewer.
    """
    if count < len(values):
        smallest = np.partition(values, -count)[-count]
        places = np.flatnonzero(values >= smallest)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")][:count]


def best_finite_places(values: NDArray[np.floating[Any]], count: int) -> NDArray[np.int64]:
    """Give the same, less the places of minus infinity."""
    places = best_places(values, count)
    return places[values[places] > -np.inf]
