"""What both clients are made with."""

from __future__ import annotations

from typing import Generic, TypeVar

from dragoman.client._calls import Calls
from dragoman.client._settings import Settings
from dragoman.client.options import (
    DEFAULT_ADDRESS,
    DEFAULT_KEEPALIVE_SECONDS,
    DEFAULT_KEEPALIVE_TIMEOUT_SECONDS,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_TIMEOUT,
    Metadata,
    Tls,
)
from dragoman.v1.limits import MAX_MESSAGE_BYTES

Channel = TypeVar("Channel")


class BaseClient(Generic[Channel]):
    """The settings of a client; `Client` describes them."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        tls: Tls | None = None,
        model: str = "",
        timeout: float | None = DEFAULT_TIMEOUT,
        metadata: Metadata | None = None,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        keepalive_seconds: float | None = DEFAULT_KEEPALIVE_SECONDS,
        keepalive_timeout_seconds: float = DEFAULT_KEEPALIVE_TIMEOUT_SECONDS,
        channel: Channel | None = None,
    ) -> None:
        settings = Settings(
            address=address,
            tls=tls,
            model=model,
            timeout=timeout,
            metadata=metadata or {},
            max_attempts=max_attempts,
            max_message_bytes=max_message_bytes,
            keepalive_seconds=keepalive_seconds,
            keepalive_timeout_seconds=keepalive_timeout_seconds,
        )
        self._calls = Calls(settings)
        self._connect(settings, channel)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._calls.settings.address!r})"

    def _connect(self, settings: Settings, channel: Channel | None) -> None:
        raise NotImplementedError
