"""How the asyncio client carries calls out and ends."""

from __future__ import annotations

import asyncio
import warnings
from typing import Self

import grpc
import grpc.aio

from dragoman.client._base import BaseClient
from dragoman.client._call import Call, Result
from dragoman.client._cancelling import explained, is_task_cancelled
from dragoman.client._channels import LoopChannels
from dragoman.client._settings import Settings
from dragoman.client.errors import CancelledError, ClientClosedError


class AwaitingClient(BaseClient[grpc.aio.Channel]):
    """What `AsyncClient` is apart from its calls."""

    def _connect(self, settings: Settings, channel: grpc.aio.Channel | None) -> None:
        self._channels = LoopChannels(settings, channel)

    async def close(self) -> None:
        """Close the connection; calls under way fail with `CancelledError`. May be repeated."""
        await self._channels.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def __del__(self) -> None:
        channels = getattr(self, "_channels", None)
        if channels is not None and channels.is_open():
            warnings.warn(f"unclosed {self!r}", ResourceWarning, stacklevel=2, source=self)

    async def _run(self, call: Call[Result]) -> Result:
        if call.known is not None:
            return call.known
        while True:
            try:
                return call.parse(await call.start(self._channels.stubs()))
            except asyncio.CancelledError as error:
                if is_task_cancelled():
                    raise
                raise CancelledError("the call was cancelled") from error
            except grpc.aio.UsageError as error:
                raise ClientClosedError("the channel is closed") from error
            except grpc.RpcError as error:
                failure = await explained(call, error)
                pause = call.attempts.pause_after(failure)
                if pause is None:
                    raise failure from error
            await asyncio.sleep(pause)
