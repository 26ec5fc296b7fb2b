"""The client for asyncio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, overload

from dragoman.client._awaiting import AwaitingClient
from dragoman.client.async_stream import AsyncTranslationStream
from dragoman.client.models import Model
from dragoman.client.options import CallOptions, ModelOptions, TokenIds, TranslateOptions
from dragoman.client.results import NextToken, ServingStatus, Translation, TranslationScore
from dragoman.v1.limits import DEFAULT_TOP_K


class AsyncClient(AwaitingClient):
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
        return await self._run(self._calls.translate(text, **options))

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
        return await self._run(call)

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
        return await self._run(call)

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
