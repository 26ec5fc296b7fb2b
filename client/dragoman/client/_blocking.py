"""How the blocking client carries calls out and ends."""

from __future__ import annotations

import time
import warnings
from typing import Self

import grpc

from dragoman.client._base import BaseClient
from dragoman.client._call import Call, Result
from dragoman.client._channels import ProcessChannels
from dragoman.client._forks import forks
from dragoman.client._settings import Settings


class BlockingClient(BaseClient[grpc.Channel]):
    """What `Client` is apart from its calls."""

    def _connect(self, settings: Settings, channel: grpc.Channel | None) -> None:
        self._channels = ProcessChannels(settings, channel)

    def close(self) -> None:
        """Close the connection; calls under way fail with `CancelledError`. May be repeated."""
        self._channels.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        channels = getattr(self, "_channels", None)
        if channels is None:
            return
        if channels.is_open():
            warnings.warn(f"unclosed {self!r}", ResourceWarning, stacklevel=2, source=self)
        channels.close()

    def _run(self, call: Call[Result]) -> Result:
        if call.known is not None:
            return call.known
        while True:
            try:
                with forks.call_under_way():
                    return call.parse(call.start(self._channels.stubs()))
            except grpc.RpcError as error:
                failure = call.explain(call.failure(error))
                pause = call.attempts.pause_after(failure)
                if pause is None:
                    raise failure from error
            time.sleep(pause)
