"""The client for asyncio."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TypeVar, Unpack, overload

import grpc
import grpc.aio

from dragoman.client._base import BaseClient
from dragoman.client._calls import Call
from dragoman.client._cancelling import explained, is_task_cancelled
from dragoman.client._channels import LoopChannels
from dragoman.client._settings import Settings
from dragoman.client.async_stream import AsyncTranslationStream
from dragoman.client.errors import CancelledError, ClientClosedError
from dragoman.client.models import Model
from dragoman.client.options import CallOptions, ModelOptions, TranslateOptions
from dragoman.client.results import (
    NextToken,
    ServingStatus,
    TokenIds,
    Translation,
    TranslationScore,
)
from dragoman.v1.limits import DEFAULT_TOP_K

Result = TypeVar("Result")


class AsyncClient(BaseClient[grpc.aio.Channel]):
    """A connection to a Dragoman server for asyncio: `Client`, with methods to await.

    It takes the same arguments and retries alike. It may be made before the event loop runs; it
    connects at the first call, and anew in another loop. Use it in an ``async with`` statement or
    close it: one that is dropped open gives a `ResourceWarning`.

    >>> async with AsyncClient("127.0.0.1:50051") as client:
    ...     print((await client.translate("Good morning.")).text)

    Cancelling the task that waits for a call cancels the call. Close it before a fork: while one
    is open in the parent, calls of an `AsyncClient` in the child raise `ForkError`.

    Args:
        channel: a `grpc.aio.Channel` to use instead of making one.
        **others: see `Client`.
    """

    def _connect(self, settings: Settings, channel: grpc.aio.Channel | None) -> None:
        self._channels = LoopChannels(settings, channel)

    @overload
    async def translate(self, text: str, **options: Unpack[TranslateOptions]) -> Translation: ...

    @overload
    async def translate(
        self, text: list[str] | tuple[str, ...], **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...

    async def translate(
        self, text: str | Sequence[str], **options: Unpack[TranslateOptions]
    ) -> Translation | list[Translation]:
        """Translate one text, or a list of texts in one call: `Client.translate`, awaited."""
        call = self._calls.translate(text, **options)
        if not isinstance(text, str) and not text:
            return []
        translations = await self._run(call)
        return translations[0] if isinstance(text, str) else translations

    def stream(self, text: str, **options: Unpack[TranslateOptions]) -> AsyncTranslationStream:
        """Translate one text in pieces, to be read by ``async for``: see `Client.stream`."""
        return AsyncTranslationStream(self._calls.stream(text, **options), self._channels.stubs)

    @overload
    async def next_token(
        self,
        text: str | TokenIds,
        prefix: str | TokenIds = "",
        top_k: int = DEFAULT_TOP_K,
        *,
        queried: Sequence[int] = (),
        **options: Unpack[ModelOptions],
    ) -> NextToken: ...

    @overload
    async def next_token(
        self,
        text: str | TokenIds,
        prefix: list[str | TokenIds] | list[str] | tuple[str | TokenIds, ...],
        top_k: int = DEFAULT_TOP_K,
        *,
        queried: Sequence[int] = (),
        **options: Unpack[ModelOptions],
    ) -> list[NextToken]: ...

    async def next_token(
        self,
        text: str | TokenIds,
        prefix: str | TokenIds | Sequence[str | TokenIds] = "",
        top_k: int = DEFAULT_TOP_K,
        *,
        queried: Sequence[int] = (),
        **options: Unpack[ModelOptions],
    ) -> NextToken | list[NextToken]:
        """Predict the next token of a translation: `Client.next_token`, awaited."""
        call = self._calls.next_token(text, prefix, top_k=top_k, queried=queried, **options)
        if not isinstance(prefix, str | TokenIds) and not prefix:
            return []
        predictions = await self._run(call)
        return predictions[0] if isinstance(prefix, str | TokenIds) else predictions

    @overload
    async def score(
        self,
        text: str | TokenIds,
        translation: str | TokenIds,
        *,
        include_alignment: bool = False,
        **options: Unpack[ModelOptions],
    ) -> TranslationScore: ...

    @overload
    async def score(
        self,
        text: str | TokenIds,
        translation: list[str | TokenIds] | list[str] | tuple[str | TokenIds, ...],
        *,
        include_alignment: bool = False,
        **options: Unpack[ModelOptions],
    ) -> list[TranslationScore]: ...

    async def score(
        self,
        text: str | TokenIds,
        translation: str | TokenIds | Sequence[str | TokenIds],
        *,
        include_alignment: bool = False,
        **options: Unpack[ModelOptions],
    ) -> TranslationScore | list[TranslationScore]:
        """Tell how probable translations are: `Client.score`, awaited."""
        call = self._calls.score(text, translation, include_alignment=include_alignment, **options)
        if not isinstance(translation, str | TokenIds) and not translation:
            return []
        scores = await self._run(call)
        return scores[0] if isinstance(translation, str | TokenIds) else scores

    async def models(self, **options: Unpack[CallOptions]) -> list[Model]:
        """List the models of the server: `Client.models`, awaited."""
        pages = self._calls.list_models(**options)
        while await self._run(pages.next_page()):
            pass
        return pages.models

    async def model(self, name: str | None = None, **options: Unpack[CallOptions]) -> Model:
        """Tell all about one model: `Client.model`, awaited."""
        return await self._run(self._calls.get_model(name, **options))

    async def health(self, service: str = "", **options: Unpack[CallOptions]) -> ServingStatus:
        """Ask whether the server answers calls: `Client.health`, awaited."""
        return await self._run(self._calls.health(service, **options))

    async def close(self) -> None:
        """Close the connection; calls under way fail with `CancelledError`. May be repeated."""
        await self._channels.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        channels = getattr(self, "_channels", None)
        if channels is not None and channels.is_open():
            warnings.warn(f"unclosed {self!r}", ResourceWarning, stacklevel=2, source=self)

    async def _run(self, call: Call[Result]) -> Result:
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
