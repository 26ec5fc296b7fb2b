"""The client for ordinary, blocking code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, overload

from dragoman.client._blocking import BlockingClient
from dragoman.client.models import Model
from dragoman.client.options import CallOptions, ModelOptions, TokenIds, TranslateOptions
from dragoman.client.results import NextToken, ServingStatus, Translation, TranslationScore
from dragoman.client.stream import TranslationStream
from dragoman.v1.limits import DEFAULT_TOP_K


class Client(BlockingClient):
    """A connection to a Dragoman server; safe to share between threads.

    It connects at the first call, and anew in a forked child. Use it in a ``with`` statement or
    close it: one that is dropped open closes itself with a `ResourceWarning`.

    >>> with Client("127.0.0.1:50051") as client:
    ...     print(client.translate("Good morning.").text)

    A call that finds the server starting, stopping or gone is retried by gRPC, with growing
    pauses; one that finds the queue full is retried when the server says. All that happens within
    the call's time limit, and never to a stream that has begun.

    Args:
        address: ``"host:port"``, or a gRPC target such as ``"dns:///host:port"`` or
            ``"unix:/path"``. The addresses of a name are used in turn.
        tls: how to encrypt; None for plain text.
        model: the model that calls use unless they name one, ``"models/..."``. Default: the
            server's default model.
        timeout: seconds that a call may take unless it says otherwise, more than 0; None for no
            limit.
        metadata: sent with every call.
        max_attempts: how often a call is tried, 1 to 5; 1 means no retry.
        max_message_bytes: the largest request to send and the largest answer to accept, 1 to
            2147483647. The server has a limit of its own, 16 MiB.
        keepalive_seconds: how long a connection with a call under way may be silent before it is
            probed; 10 or more, or the server closes the connection; None for no probe.
        keepalive_timeout_seconds: how long a probe may stay unanswered before calls fail with
            `UnreachableError`, more than 0.
        channel: a channel to use instead of making one. It stays open when the client closes;
            `tls`, `max_attempts` for an unavailable server, `max_message_bytes` and keepalive do
            not apply to it, `address` is only what messages call it.

    Raises:
        InvalidArgumentError: a value is out of its range.
        TypeError: a value is of a wrong type.

    A process that forks in the middle of a stream, or while another thread waits for a call, must
    have ``GRPC_ENABLE_FORK_SUPPORT=1`` in its environment from the start; without it, calls in the
    child raise `ForkError`.
    """

    @overload
    def translate(self, text: str, **options: Unpack[TranslateOptions]) -> Translation: ...

    @overload
    def translate(
        self, text: list[str] | tuple[str, ...], **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...

    def translate(
        self, text: str | Sequence[str], **options: Unpack[TranslateOptions]
    ) -> Translation | list[Translation]:
        """Translate one text, or a list of texts in one call.

        Args:
            text: a text, translated line by line; line ends, blank lines and outer white space
                stay as they are. Or a list or tuple of at most 1024 texts; an empty one makes no
                call.
            **options: `model`, `source_language_code`, `target_language_code`, `timeout`,
                `metadata` and how to decode, from `beam_size` to `terms`; see `TranslateOptions`.

        Returns:
            One translation, or a list of as many as there are texts, in their order.

        Raises:
            InvalidArgumentError: a text holds a lone surrogate, or the server refuses a value.
            TypeError: a value is of a wrong type.
            DragomanError: the call failed; `dragoman.client.errors` lists how.
        """
        return self._run(self._calls.translate(text, **options))

    def stream(self, text: str, **options: Unpack[TranslateOptions]) -> TranslationStream:
        """Translate one text and get the translation in pieces while it is being made.

        Nothing is sent before the first piece is asked for. The time limit counts from here and
        covers the whole stream.

        Args:
            text: the text; it may have several lines.
            **options: as for `translate`.

        Returns:
            An iterator of chunks with `.text`; its `.result` is the whole translation at the end.
            Leaving the loop early and dropping the stream cancels the call, and so does leaving
            its ``with`` statement.

        Raises:
            InvalidArgumentError, TypeError: as for `translate`. Other errors are raised by the
            iterator, with the text delivered so far in `partial_text`.
        """
        return TranslationStream(self._calls.stream(text, **options), self._channels.stubs)

    @overload
    def next_token(
        self,
        text: str | TokenIds,
        prefix: str | TokenIds = "",
        top_k: int = DEFAULT_TOP_K,
        *,
        queried: Sequence[int] = (),
        **options: Unpack[ModelOptions],
    ) -> NextToken: ...

    @overload
    def next_token(
        self,
        text: str | TokenIds,
        prefix: list[str | TokenIds] | list[str] | tuple[str | TokenIds, ...],
        top_k: int = DEFAULT_TOP_K,
        *,
        queried: Sequence[int] = (),
        **options: Unpack[ModelOptions],
    ) -> list[NextToken]: ...

    def next_token(
        self,
        text: str | TokenIds,
        prefix: str | TokenIds | Sequence[str | TokenIds] = "",
        top_k: int = DEFAULT_TOP_K,
        *,
        queried: Sequence[int] = (),
        **options: Unpack[ModelOptions],
    ) -> NextToken | list[NextToken]:
        """Predict the next token of a translation after what it has so far.

        Args:
            text: the source, a single line that is not blank, as text or as tokens.
            prefix: what the translation has so far. A text that ends in a space is complete up to
                there, and the next token starts a word; the last word of any other may go on. Or
                a list or tuple of at most 64 prefixes of the same source, read in one call; an
                empty one makes no call.
            top_k: how many of the likeliest tokens to return, 1 to 100.
            queried: tokens whose log-probability and rank to return as well, at most 100.
            **options: `model`, `source_language_code`, `target_language_code`, `timeout`,
                `metadata`; see `ModelOptions`.

        Returns:
            One prediction, or a list of as many as there are prefixes, in their order.

        Raises:
            InvalidArgumentError, TypeError, DragomanError: as for `translate`.
        """
        call = self._calls.next_token(text, prefix, top_k=top_k, queried=queried, **options)
        return self._run(call)

    @overload
    def score(
        self,
        text: str | TokenIds,
        translation: str | TokenIds,
        *,
        include_alignment: bool = False,
        **options: Unpack[ModelOptions],
    ) -> TranslationScore: ...

    @overload
    def score(
        self,
        text: str | TokenIds,
        translation: list[str | TokenIds] | list[str] | tuple[str | TokenIds, ...],
        *,
        include_alignment: bool = False,
        **options: Unpack[ModelOptions],
    ) -> list[TranslationScore]: ...

    def score(
        self,
        text: str | TokenIds,
        translation: str | TokenIds | Sequence[str | TokenIds],
        *,
        include_alignment: bool = False,
        **options: Unpack[ModelOptions],
    ) -> TranslationScore | list[TranslationScore]:
        """Tell how probable given translations of one source are.

        Args:
            text: the source, a single line that is not blank, as text or as tokens.
            translation: a translation, a single line or tokens; or a list or tuple of at most 64
                of them, scored in one call; an empty one makes no call.
            include_alignment: return which source tokens each token looks at.
            **options: `model`, `source_language_code`, `target_language_code`, `timeout`,
                `metadata`; see `ModelOptions`.

        Returns:
            One score, or a list of as many as there are translations, in their order.

        Raises:
            InvalidArgumentError, TypeError, DragomanError: as for `translate`.
        """
        call = self._calls.score(text, translation, include_alignment=include_alignment, **options)
        return self._run(call)

    def models(self, **options: Unpack[CallOptions]) -> list[Model]:
        """List the models of the server, its default model first.

        Args:
            **options: `timeout`, `metadata`; see `CallOptions`.

        Raises:
            DragomanError: the call failed.
        """
        pages = self._calls.list_models(**options)
        while self._run(pages.next_page()):
            pass
        return pages.models

    def model(self, name: str | None = None, **options: Unpack[CallOptions]) -> Model:
        """Tell all about one model.

        Args:
            name: ``"models/..."``; None for the client's `model`, empty for the server's default.
            **options: `timeout`, `metadata`; see `CallOptions`.

        Raises:
            NotFoundError: the server has no such model.
            DragomanError: the call failed.
        """
        return self._run(self._calls.get_model(name, **options))

    def health(self, service: str = "", **options: Unpack[CallOptions]) -> ServingStatus:
        """Ask whether the server answers calls.

        Args:
            service: full name of one service, for example
                ``"dragoman.v1.TranslationService"``; empty for the server as a whole.
            **options: `timeout`, `metadata`; see `CallOptions`.

        Raises:
            NotFoundError: the server does not know the service.
            DragomanError: the call failed.
        """
        return self._run(self._calls.health(service, **options))
