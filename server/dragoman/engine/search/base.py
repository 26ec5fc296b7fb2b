"""What every way of decoding has in common.

A search decides which token each of its rows is fed next. It owns some rows of the running batch
and knows nothing of the others: what it sees of a step is its own part alone, so its choices
can't depend on its neighbours.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.engine.request import Hypothesis
from dragoman.engine.sessions import StepOutput


class Step:
    """One step's results as the searches read them, and the tokens that they answer with.

    Attributes:
        best_ids: the most probable token of each row.
        best_log_probabilities: its log-probability.
        output: all that the step gave.
        next_ids: what is fed to each row next; a search writes those of its own rows.
    """

    __slots__ = ("_top", "best_ids", "best_log_probabilities", "next_ids", "output")

    def __init__(self, output: StepOutput) -> None:
        """Take over the output of a step."""
        self.output = output
        self.best_ids: list[int] = output.best_ids.tolist()
        self.best_log_probabilities: list[float] = list(output.best_log_probs)
        self.next_ids: list[int] = self.best_ids.copy()
        self._top: tuple[list[list[int]], list[list[float]]] | None = None

    @property
    def top(self) -> tuple[list[list[int]], list[list[float]]]:
        """Each row's top tokens and their log-probabilities, read once for all searches."""
        if self._top is None:
            self._top = self.output.top_ids.tolist(), self.output.top_log_probs.tolist()
        return self._top


class Trace(NamedTuple):
    """What a row was fed.

    Attributes:
        row: the row; what it holds of these tokens but the last is computed.
        token_ids: the tokens, begin-of-sentence left out.
        log_probabilities: of each of them; more may follow.
    """

    row: int
    token_ids: tuple[int, ...]
    log_probabilities: Sequence[float]


class Search(ABC):
    """One branch of a request: the hypotheses that are decided on together.

    Attributes:
        width: rows that it begins with.
        most_rows: rows that it may come to have, set aside for it from the beginning.
        rows: the rows that it has now; whoever moves a row keeps this right.
        parents: None where each row goes on by itself. Otherwise the search wants as many rows as
            this has entries, each continuing the row at that place of `rows`.
        parent_ids: with `parents`, what is fed to each of these rows next.
        candidates: top tokens that it wants to see of the next step.
        all_log_probs: whether it wants every token's log-probability in the next step.
        chosen: tokens that it has chosen itself, forced ones not counted.
        ended: outputs that ended in this step while others of the search go on.
        source: number of its source among those that were given to rows; whoever does so sets it.
    """

    __slots__ = (
        "all_log_probs",
        "candidates",
        "chosen",
        "ended",
        "most_rows",
        "parent_ids",
        "parents",
        "rows",
        "source",
        "width",
    )

    def __init__(
        self, width: int, candidates: int, *, all_log_probs: bool, most_rows: int | None = None
    ) -> None:
        """Begin without rows; `most_rows` None means that it never has more than `width`."""
        self.width = width
        self.most_rows = width if most_rows is None else most_rows
        self.rows: list[int] = []
        self.parents: Sequence[int] | None = None
        self.parent_ids: Sequence[int] = ()
        self.candidates = candidates
        self.all_log_probs = all_log_probs
        self.chosen = 0
        self.ended: Sequence[Trace] = ()
        self.source = 0

    @property
    @abstractmethod
    def forced(self) -> tuple[int, ...]:
        """Tokens that it feeds first in any case."""

    @abstractmethod
    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of the forced tokens.

        Args:
            token_ids: these tokens, perhaps none or all.
            log_probabilities: of each of them.
        """

    @abstractmethod
    def trace(self) -> Trace | None:
        """Give what one of its rows was fed so far, or None where none knows it."""

    def shared(self, place: int, other: int) -> int:  # noqa: ARG002 - none unless a search knows
        """Give how many leading positions two rows are known to hold alike.

        Args:
            place: of `rows` in the step that is just over.
            other: likewise.
        """
        return 0

    @abstractmethod
    def advance(self, step: Step) -> bool:
        """Read a step's results, write what is fed next, and say whether the search is over."""

    def take_committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Give the tokens, and their log-probabilities, that are certain since the last call."""
        return (), ()


class TranslationSearch(Search):
    """A search whose outcome is outputs."""

    __slots__ = ()

    @abstractmethod
    def cut(self) -> None:
        """End it because of the deadline: what it has found so far is its outcome."""

    @abstractmethod
    def hypotheses(self) -> list[Hypothesis]:
        """Give the outputs, best first, once the search is over."""


def common_length(sequences: Sequence[tuple[float, ...]]) -> int:
    """Give how many leading tokens are the same."""
    # Whatever lies between two sequences in order begins with what these have in common.
    first, last = min(sequences), max(sequences)
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return place
    return min(len(first), len(last))
