"""How probable a given output is."""

from collections.abc import Sequence

from dragoman.engine.search.base import Search, Step, Trace


class Forced(Search):
    """Feeds a given output, token by token, and reads how probable each token was.

    Its row is stepped as any other; so the numbers are, bit for bit, those of the same output
    where it was decoded.
    """

    __slots__ = ("_eos", "_log_probabilities", "_token_ids")

    def __init__(self, token_ids: tuple[int, ...], eos: int) -> None:
        """Begin a search.

        Args:
            token_ids: the output's tokens of text.
            eos: the token that ends it.
        """
        super().__init__(width=1, candidates=1, all_log_probs=True)
        self._token_ids = token_ids
        self._eos = eos
        self._log_probabilities: list[float] = []

    @property
    def forced(self) -> tuple[int, ...]:
        """Tokens that it feeds in any case: all of its text."""
        return self._token_ids

    @property
    def log_probabilities(self) -> tuple[float, ...]:
        """Of each token, end-of-sentence last, once the search is over."""
        return tuple(self._log_probabilities)

    def resume(self, token_ids: tuple[int, ...], log_probabilities: Sequence[float]) -> None:
        """Begin after the first of the tokens."""
        self._log_probabilities = list(log_probabilities[: len(token_ids)])

    def trace(self) -> Trace:
        """Give the output as far as it was fed."""
        fed = self._token_ids[: len(self._log_probabilities)]
        return Trace(self.rows[0], fed, self._log_probabilities)

    def advance(self, step: Step) -> bool:
        """Read how probable the next token is, and feed it; end-of-sentence ends the search."""
        row, position = self.rows[0], len(self._log_probabilities)
        over = position == len(self._token_ids)
        token = self._eos if over else self._token_ids[position]
        self._log_probabilities.append(float(step.output.log_probs[row, token]))
        if not over:
            step.next_ids[row] = token
        return over
