"""Options of the engine itself, and the limits that come out of them."""

from dataclasses import dataclass

from dragoman.engine.errors import InvalidOptionError

MAX_ROWS = 256
MAX_WORKERS = 16


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How much the engine takes on at once.

    Attributes:
        max_rows: most hypotheses that are decoded at once, 1 to 256, over all workers.
        max_queued: most requests that wait for a row, at least 1; more are refused.
        max_batch_tokens: most padded source tokens that are encoded at once, and about as many
            encoded ones wait for a row. None: the larger of 512 and the model's longest source.
        decoder_workers: step loops beside each other, each with a running batch of its own, 1 to
            16; a request runs in the one with the fewest rows. None: 2, or 1 where the process may
            use one processor core only.
        decoder_threads: threads that compute the workers' steps, at least 1. None: half of the
            processor cores that the process may use.
        encoder_threads: threads that encode sources beside it, likewise.
        source_cache_bytes: most bytes of encoded sources that are kept for later requests with
            the same source, from 0 on; 0 keeps none.
        prefix_cache_bytes: most bytes of decoded prefixes that are kept for later requests whose
            forced prefix begins in the same way, from 0 on; 0 keeps none.
    """

    max_rows: int = 32
    max_queued: int = 1024
    max_batch_tokens: int | None = None
    decoder_workers: int | None = None
    decoder_threads: int | None = None
    encoder_threads: int | None = None
    source_cache_bytes: int = 32 << 20
    prefix_cache_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        """Refuse values outside their bounds.

        Raises:
            InvalidOptionError: naming the field.
        """
        if not 1 <= self.max_rows <= MAX_ROWS:
            raise InvalidOptionError("max_rows", self.max_rows, f"1 to {MAX_ROWS}")
        if self.max_queued < 1:
            raise InvalidOptionError("max_queued", self.max_queued, "at least 1")
        workers = self.decoder_workers
        if workers is not None and not 1 <= workers <= MAX_WORKERS:
            raise InvalidOptionError("decoder_workers", workers, f"1 to {MAX_WORKERS}, or None")
        for field in ("max_batch_tokens", "decoder_threads", "encoder_threads"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise InvalidOptionError(field, value, "at least 1, or None")
        for field in ("source_cache_bytes", "prefix_cache_bytes"):
            if getattr(self, field) < 0:
                raise InvalidOptionError(field, getattr(self, field), "0 or more")


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """What a request may ask for.

    Attributes:
        max_source_tokens: most tokens of a source, end-of-sentence included.
        max_target_tokens: most tokens of a target, end-of-sentence included.
        max_rows: hypotheses decoded at once.
        vocabulary_size: token ids lie in 0 .. vocabulary_size - 1.
    """

    max_source_tokens: int
    max_target_tokens: int
    max_rows: int
    vocabulary_size: int
