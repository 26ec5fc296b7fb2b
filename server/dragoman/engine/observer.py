"""Hooks for whoever counts what the engine does."""

from dragoman.engine.errors import EngineError
from dragoman.engine.request import FinishReason


class EngineObserver:
    """Base class with no-op methods; override what is of interest.

    The methods must be fast and must not raise. `request_queued` and `request_rejected` run on
    the thread that submits, `encoded` and `sources_found` on the encoder's thread, all others on
    the decoder's, of which there may be several. Times are in seconds.
    """

    def request_queued(self) -> None:
        """A request was accepted and waits."""

    def request_rejected(self, reason: str) -> None:
        """A request was refused: "invalid", "queue_full", "stopped" or "failed"."""

    def request_admitted(self, queue_seconds: float) -> None:
        """A request got its first row; it had waited this long for the encoder."""

    def first_token(self, seconds: float) -> None:
        """The first token after the prefix was chosen, this long after submission."""

    def request_finished(
        self, reason: FinishReason | None, output_tokens: int, source_tokens: int, seconds: float
    ) -> None:
        """A request was answered.

        Args:
            reason: of the best hypothesis; None for a next-token request.
            output_tokens: tokens chosen by the model, forced prefixes not counted.
            source_tokens: tokens of the source, end-of-sentence included.
            seconds: from the first token to the result.
        """

    def request_scored(self, targets: int, tokens: int, seconds: float) -> None:
        """A score request was answered.

        Args:
            targets: translations that it gave.
            tokens: of them all, end-of-sentence included.
            seconds: from when the encoder took it to the result.
        """

    def request_failed(self, error: EngineError) -> None:
        """A request ended with this error after it had been accepted."""

    def step(self, rows: int, seconds: float) -> None:
        """One step of a worker over this many rows is over, all its events delivered."""

    def encoded(self, sentences: int, tokens: int, seconds: float) -> None:
        """One batch of sources with this many real tokens was encoded."""

    def sources_found(self, hits: int, misses: int) -> None:
        """So many sources needn't be encoded, so many must be; on the encoder's thread."""

    def prefix_reused(self, reused: int, computed: int) -> None:
        """Of a forced prefix, or a translation to score, so many tokens are known, so many not."""

    def engine_failed(self, error: EngineError) -> None:
        """The engine broke and takes no more requests."""
