"""What every way of decoding has in common.

A search decides which token each of its rows is fed next. It owns `width` rows of the running
batch and knows nothing of the other rows: what it sees of a step is its own part alone, so its
choices can't depend on its neighbours.
"""

from abc import ABC, abstractmethod

from dragoman.engine.sessions import StepOutput


class Step:
    """One step's results as the searches read them, and the tokens that they answer with.

    Attributes:
        best_ids: the most probable token of each row.
        best_log_probabilities: its log-probability.
        output: all that the step gave.
        next_ids: what is fed to each row next; a search writes those of its own rows.
    """

    __slots__ = ("best_ids", "best_log_probabilities", "next_ids", "output")

    def __init__(self, output: StepOutput) -> None:
        """Take over the output of a step."""
        self.output = output
        self.best_ids: list[int] = output.top_ids[:, 0].tolist()
        self.best_log_probabilities: list[float] = output.top_log_probs[:, 0].tolist()
        self.next_ids: list[int] = self.best_ids.copy()


class Search(ABC):
    """One branch of a request: the hypotheses that are decided on together.

    Attributes:
        width: rows that it takes.
        rows: the rows that it has now; whoever moves a row keeps this right.
        candidates: top tokens that it wants to see of the next step.
        all_log_probs: whether it wants every token's log-probability in the next step.
        chosen: tokens that it has chosen itself, forced ones not counted.
    """

    __slots__ = ("all_log_probs", "candidates", "chosen", "rows", "width")

    def __init__(self, width: int, candidates: int, *, all_log_probs: bool) -> None:
        """Begin without rows."""
        self.width = width
        self.rows: list[int] = []
        self.candidates = candidates
        self.all_log_probs = all_log_probs
        self.chosen = 0

    @abstractmethod
    def advance(self, step: Step) -> bool:
        """Read a step's results, write what is fed next, and say whether the search is over."""

    def take_committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Give the tokens, and their log-probabilities, that are certain since the last call."""
        return (), ()
