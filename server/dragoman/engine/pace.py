"""How fast requests are answered, to tell those that are refused when to come back."""

from collections import deque

_RECENT_REQUESTS = 32
_SHORTEST_RETRY, _LONGEST_RETRY, _UNKNOWN_RETRY = 0.05, 10.0, 1.0


class Pace:
    """When the latest requests were answered."""

    def __init__(self) -> None:
        """Begin with none."""
        self._recent: deque[float] = deque(maxlen=_RECENT_REQUESTS)

    def note(self, now: float, count: int = 1) -> None:
        """Note that so many requests are answered now."""
        self._recent.extend([now] * count)

    def retry_after(self, queued: int, now: float) -> float:
        """Guess when half of a queue will be gone, in seconds from now."""
        if not self._recent or now <= self._recent[0]:
            return _UNKNOWN_RETRY
        per_second = len(self._recent) / (now - self._recent[0])
        return min(max(0.5 * queued / per_second, _SHORTEST_RETRY), _LONGEST_RETRY)
