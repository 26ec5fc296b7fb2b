"""Carries the engine's events from its thread onto the event loop."""

import asyncio
from collections import deque
from collections.abc import Callable

from dragoman.engine import Event

Receiver = Callable[[int, Event], None]
"""Takes an event of the request with this index; runs on the loop."""


class EventBridge:
    """One queue for all requests: a batch of events costs the loop a single wake-up.

    Args:
        loop: where the receivers run.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._events: deque[tuple[Receiver, int, Event]] = deque()
        self._awake = False
        self._closed = False

    def callback(self, receive: Receiver, index: int) -> Callable[[Event], None]:
        """A callback for the engine that hands its events to `receive` on the loop, in order."""

        def post(event: Event) -> None:
            self._events.append((receive, index, event))
            if not self._awake:
                self._wake()

        return post

    def close(self) -> None:
        """Drop all further events: the loop is about to end."""
        self._closed = True

    def _wake(self) -> None:
        # Set before the call: a loop that runs at once must not find it set afterwards. A second
        # thread that gets here at the same moment wakes the loop once more, which does no harm.
        self._awake = True
        if not self._closed:
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        # Cleared before the queue is read: what is appended from now on wakes the loop anew.
        self._awake = False
        events = self._events
        while events:
            receive, index, event = events.popleft()
            receive(index, event)
