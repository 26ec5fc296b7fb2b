"""Whether gRPC still works in this process, should it be a forked child.

A fork copies only the thread that forks. What gRPC's other threads were about to do then stays
half done in the child for ever: it may hang, or end Python. gRPC sees to that itself in general
(``GRPC_ENABLE_FORK_SUPPORT``), but not in the cases that are told apart here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from dragoman.client.errors import ForkError

_VARIABLE = "GRPC_ENABLE_FORK_SUPPORT"
_TRUE = ("1", "t", "true", "y", "yes")
_FALSE = ("0", "f", "false", "n", "no")


class Forks:
    """What was under way in this process's ancestors when they forked."""

    def __init__(self) -> None:
        self._under_way: set[object] = set()
        self._aio_channels: WeakSet[Any] = WeakSet()
        self._used = False
        self._before = (False, False, False)
        self._inherited = (False, False, False)
        self._kept: list[object] = []

    @contextmanager
    def call_under_way(self) -> Iterator[None]:
        """Mark a blocking call, for as long as it lasts."""
        token = object()
        self.begin(token)
        try:
            yield
        finally:
            self.end(token)

    def begin(self, token: object) -> None:
        """Mark a call of the blocking stack as under way."""
        self._under_way.add(token)

    def end(self, token: object) -> None:
        """Mark it as ended. May be repeated."""
        self._under_way.discard(token)

    def opened(self, channel: Any, *, aio: bool) -> None:  # noqa: ANN401 - either stack's channel
        """Mark a channel as open."""
        self._used = True
        if aio:
            self._aio_channels.add(channel)

    def closed(self, channel: Any) -> None:  # noqa: ANN401 - either stack's channel
        """Mark a channel as closed."""
        self._aio_channels.discard(channel)

    def keep(self, thing: object) -> None:
        """Keep a channel or call of the parent for good: its end would touch what it shares."""
        self._kept.append(thing)

    def check(self, *, aio: bool) -> None:
        """Refuse a new channel where it might hang.

        Raises:
            ForkError: why, and what to do about it.
        """
        used, calling, listening = self._inherited
        support = os.environ.get(_VARIABLE, "").lower()
        if used and support in _FALSE:
            raise ForkError(f"forked after gRPC's start, with {_VARIABLE}={support}")
        if aio and listening:
            raise ForkError("forked while an AsyncClient was open: close it before, or use Client")
        if calling and support not in _TRUE:
            raise ForkError(f"forked in a call: set {_VARIABLE}=1 before Python starts")

    def look(self) -> None:
        """Note what is under way; runs before a fork."""
        used, calling, listening = self._inherited
        self._before = (
            used or self._used,
            calling or bool(self._under_way),
            listening or len(self._aio_channels) > 0,
        )

    def inherit(self) -> None:
        """Take over what was noted; runs in the child."""
        self._inherited = self._before
        self._under_way.clear()
        self._aio_channels = WeakSet()


forks = Forks()
os.register_at_fork(before=forks.look, after_in_child=forks.inherit)
