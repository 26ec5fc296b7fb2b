"""When to try again on the SDK's own account: an overloaded server that says when to return."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from dragoman.client.errors import DragomanError, OverloadedError

_LEAST_PAUSE_SECONDS = 0.05


class Attempts:
    """The attempts at one call: their number, and the time left for them.

    Args:
        timeout: seconds for all of them together; None for no limit.
        max_attempts: how many there may be, 1 or more.
        clock: monotonic time in seconds.
        jitter: evenly spread numbers in [0, 1).
    """

    __slots__ = ("_clock", "_end", "_jitter", "_left", "timeout")

    def __init__(
        self,
        timeout: float | None,
        max_attempts: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.timeout = timeout
        self._end = None if timeout is None else clock() + timeout
        self._left = max_attempts
        self._clock = clock
        self._jitter = jitter

    def remaining(self) -> float | None:
        """Seconds left, 0 or more; None for no limit."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def pause_after(self, failure: DragomanError) -> float | None:
        """Seconds to wait before the next attempt; None where there must be none.

        Only an overloaded server that names a delay is tried again. The wait is that delay and up
        to half of it more, so that clients refused together do not come back together; there is
        none where the time left would not outlast it.
        """
        self._left -= 1
        if not isinstance(failure, OverloadedError) or failure.retry_after is None:
            return None
        pause = max(failure.retry_after, _LEAST_PAUSE_SECONDS) * (1 + self._jitter() / 2)
        remaining = self.remaining()
        if self._left <= 0 or (remaining is not None and remaining <= pause):
            return None
        return pause
