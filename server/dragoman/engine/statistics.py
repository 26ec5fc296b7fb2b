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
    """

    queued: int
    pending: int
    running_rows: int
    slots_total: int
    slots_created: int
    slots_released: int
    steps: int
    busy_seconds: float
