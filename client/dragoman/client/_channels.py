"""Channels, made when first needed: one for each process, or for each event loop.

A channel must not be used in a forked child, nor even be closed there, and an aio channel belongs
to the event loop that it was made in. So a client that was made before a fork, or outside of any
loop, or that outlives one, gets a fresh channel where it needs one.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import grpc
import grpc.aio

from dragoman.client._call import Stubs
from dragoman.client._forks import forks
from dragoman.client._settings import Settings
from dragoman.client.errors import ClientClosedError


class Opened:
    """A channel with its stubs and the process that made it."""

    __slots__ = ("channel", "pid", "stubs")

    def __init__(self, channel: Any) -> None:  # noqa: ANN401 - either stack's channel
        self.channel = channel
        self.pid = os.getpid()
        self.stubs = Stubs(channel)


class ProcessChannels:
    """The channels of a blocking client. Without a lock, which a fork could leave locked."""

    __slots__ = ("_closed", "_given", "_opened", "_settings")

    def __init__(self, settings: Settings, given: grpc.Channel | None) -> None:
        self._settings = settings
        self._given = None if given is None else Stubs(given)
        self._opened: dict[int, Opened] = {}
        self._closed = False

    def stubs(self) -> Stubs:
        """The stubs to use in this process.

        Raises:
            ClientClosedError, ForkError: there are none.
        """
        _check_open(self._closed)
        if self._given is not None:
            return self._given
        pid = os.getpid()
        opened = self._opened.get(pid)
        return self._open(pid).stubs if opened is None else opened.stubs

    def _open(self, pid: int) -> Opened:
        mine = Opened(_make(grpc, self._settings))
        opened = self._opened.setdefault(pid, mine)
        if opened is not mine:
            mine.channel.close()
        return opened

    def close(self) -> None:
        """Close the channel of this process, if there is one."""
        self._closed = True
        opened = self._opened.pop(os.getpid(), None)
        forks.keep([*self._opened.values()])
        self._opened.clear()
        # At the end of Python the threads that gRPC would wait for stand still.
        if opened is not None and not sys.is_finalizing():
            opened.channel.close()

    def is_open(self) -> bool:
        """Whether this process made a channel that is not closed."""
        return os.getpid() in self._opened


class LoopChannels:
    """The channels of an asyncio client."""

    __slots__ = ("_closed", "_given", "_opened", "_settings")

    def __init__(self, settings: Settings, given: grpc.aio.Channel | None) -> None:
        self._settings = settings
        self._given = None if given is None else Stubs(given)
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, Opened] = WeakKeyDictionary()
        self._closed = False

    def stubs(self) -> Stubs:
        """The stubs to use in the running loop.

        Raises:
            ClientClosedError, ForkError: there are none.
        """
        _check_open(self._closed)
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        opened = self._opened.get(loop)
        if opened is None or opened.pid != os.getpid():
            self._forget_ended()
            opened = self._opened[loop] = Opened(_make(grpc.aio, self._settings))
        return opened.stubs

    async def close(self) -> None:
        """Close the channels of all loops that still run."""
        self._closed = True
        self._forget_ended()
        here = asyncio.get_running_loop()
        opened, self._opened = dict(self._opened), WeakKeyDictionary()
        for loop, entry in opened.items():
            forks.closed(entry.channel)
            if loop is here:
                await entry.channel.close()
            else:
                with suppress(RuntimeError):
                    asyncio.run_coroutine_threadsafe(entry.channel.close(), loop)

    def is_open(self) -> bool:
        """Whether this process made a channel that is not closed."""
        return any(opened.pid == os.getpid() for opened in self._opened.values())

    def _forget_ended(self) -> None:
        for loop, opened in list(self._opened.items()):
            if opened.pid != os.getpid():
                forks.keep(self._opened.pop(loop))
            elif loop.is_closed():
                del self._opened[loop]


def _check_open(closed: bool) -> None:
    if closed:
        raise ClientClosedError("the client is closed")


def _make(stack: ModuleType, settings: Settings) -> Any:  # noqa: ANN401 - either stack's channel
    forks.check(aio=stack is grpc.aio)
    options, credentials = settings.channel_options(), settings.credentials()
    if credentials is None:
        channel = stack.insecure_channel(settings.address, options=options)
    else:
        channel = stack.secure_channel(settings.address, credentials, options=options)
    forks.opened(channel, aio=stack is grpc.aio)
    return channel
