"""What the engine counts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineStatistics:
    """Counts at one moment.

    Attributes:
        queued: requests that have no rows yet.
        pending: requests that have not ended, the queued ones included.
        running_rows: rows of the running batch.
        slots_total: rows that there are.
        slots_created: rows ever given to a request.
        slots_released: rows ever taken back; equal to the former when nothing runs.
        steps: steps computed.
        busy_seconds: how long the step or batch that is computed now has taken, 0 when idle.
        source_cache_hits: sources that needn't be encoded, since they were before or with others.
        source_cache_misses: sources that were encoded.
        source_cache_bytes: bytes of encoded sources that are kept.
        prefix_tokens_reused: tokens of forced prefixes and of translations to score that were
            copied from earlier rows.
        prefix_tokens_computed: such tokens that were stepped.
        prefix_cache_bytes: bytes of decoded prefixes that are kept.
    """

    queued: int
    pending: int
    running_rows: int
    slots_total: int
    slots_created: int
    slots_released: int
    steps: int
    busy_seconds: float
    source_cache_hits: int = 0
    source_cache_misses: int = 0
    source_cache_bytes: int = 0
    prefix_tokens_reused: int = 0
    prefix_tokens_computed: int = 0
    prefix_cache_bytes: int = 0
