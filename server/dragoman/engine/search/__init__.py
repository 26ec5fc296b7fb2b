"""Ways of decoding."""

from dragoman.engine.search.base import Search, Step, Trace, TranslationSearch
from dragoman.engine.search.beam import Beam
from dragoman.engine.search.constrained import ConstrainedBeam
from dragoman.engine.search.forced import Forced
from dragoman.engine.search.greedy import Greedy
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.plan import plan_searches
from dragoman.engine.search.prediction import Prediction
from dragoman.engine.search.rules import Rules
from dragoman.engine.search.single import Single
from dragoman.engine.search.vocabulary import Vocabulary

__all__ = [
    "Beam",
    "ConstrainedBeam",
    "Forced",
    "Greedy",
    "LengthPenalty",
    "Prediction",
    "Rules",
    "Search",
    "Single",
    "Step",
    "Trace",
    "TranslationSearch",
    "Vocabulary",
    "plan_searches",
]
