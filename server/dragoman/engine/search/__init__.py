"""Ways of decoding."""

from dragoman.engine.search.base import Search, Step
from dragoman.engine.search.greedy import Greedy
from dragoman.engine.search.prediction import Prediction
from dragoman.engine.search.vocabulary import Vocabulary

__all__ = ["Greedy", "Prediction", "Search", "Step", "Vocabulary"]
