"""How much work the server takes on: refused at once rather than kept waiting without end."""

import time
from collections import deque
from collections.abc import Callable

from dragoman.server.errors import OverloadedError

SHORTEST_RETRY_SECONDS = 0.05
LONGEST_RETRY_SECONDS = 30.0
FIRST_GUESS_LINES_PER_SECOND = 50.0


class Admission:
    """Counts the lines that are in work or waiting, over all calls.

    It stands in the service and not in gRPC's own limit of calls, which would refuse health
    checks too.

    Args:
        capacity: the most lines at one time.
        clock: seconds, monotonic.
    """

    def __init__(self, capacity: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._clock = clock
        self._taken = 0
        self._released: deque[float] = deque(maxlen=64)

    @property
    def taken(self) -> int:
        """Lines in work or waiting now."""
        return self._taken

    def take(self, count: int) -> None:
        """Reserve room for `count` lines, all or none.

        Raises:
            OverloadedError: there is no room; it estimates when there will be.
        """
        excess = self._taken + count - self._capacity
        if excess > 0:
            raise OverloadedError(self._seconds_for(excess))
        self._taken += count

    def release(self, count: int) -> None:
        """Give room back, as lines end."""
        self._taken -= count
        now = self._clock()
        self._released.extend([now] * count)

    def _seconds_for(self, lines: int) -> float:
        seconds = lines / self._lines_per_second()
        return min(max(seconds, SHORTEST_RETRY_SECONDS), LONGEST_RETRY_SECONDS)

    def _lines_per_second(self) -> float:
        if len(self._released) < 2:
            return FIRST_GUESS_LINES_PER_SECOND
        elapsed = self._clock() - self._released[0]
        return len(self._released) / max(elapsed, 0.001)
