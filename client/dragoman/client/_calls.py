"""What both clients do alike: from a method's arguments to a call, from its response to a result.

The clients only carry calls out, each on its own gRPC stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2_grpc

from dragoman.client import _requests, _responses
from dragoman.client._retry import Attempts
from dragoman.client._settings import Settings, check_timeout, pairs_of
from dragoman.client._status import exception_of
from dragoman.client._tls_names import explain, is_mismatch
from dragoman.client._values import listed
from dragoman.client.errors import ClientClosedError, DragomanError, ProtocolError
from dragoman.client.models import Model
from dragoman.client.options import NOT_GIVEN, Metadata, NotGiven, Timeout
from dragoman.client.results import (
    NextToken,
    ServingStatus,
    TokenIds,
    Translation,
    TranslationScore,
)
from dragoman.v1 import model_pb2_grpc, translation_pb2_grpc
from dragoman.v1.model_pb2 import ListModelsResponse
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse

Result = TypeVar("Result")


class Stubs:
    """The services' stubs on one channel, of either gRPC stack."""

    __slots__ = ("health", "model", "translation")

    def __init__(self, channel: Any) -> None:  # noqa: ANN401 - either stack's channel
        self.translation: Any = translation_pb2_grpc.TranslationServiceStub(channel)
        self.model: Any = model_pb2_grpc.ModelServiceStub(channel)
        self.health: Any = health_pb2_grpc.HealthStub(channel)


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One call, ready to be carried out.

    Attributes:
        method: picks the method among the stubs.
        request: what is sent.
        parse: makes the result of the response.
        attempts: the time and the attempts that it has; they count from now.
        metadata: what is sent beside the request.
        settings: the client's.
    """

    method: Callable[[Stubs], Any]
    request: Message
    parse: Callable[[Any], Result]
    attempts: Attempts
    metadata: tuple[tuple[str, str | bytes], ...]
    settings: Settings

    def start(self, stubs: Stubs) -> Any:  # noqa: ANN401 - either stack's call
        """Start an attempt on a channel; the blocking stack also ends a unary call here.

        Raises:
            ClientClosedError: the channel is closed.
            grpc.RpcError: the call failed.
        """
        try:
            return self.method(stubs)(
                self.request, timeout=self.attempts.remaining(), metadata=self.metadata
            )
        except ValueError as error:
            if "closed" not in str(error):
                raise
            raise ClientClosedError("the channel is closed") from error

    def failure(self, error: grpc.RpcError) -> DragomanError:
        """The exception for an attempt that failed."""
        return exception_of(error, self.settings.address, self.attempts.timeout)

    def can_explain(self, failure: DragomanError) -> bool:
        """Whether `explain` may find out more."""
        return is_mismatch(failure, self.settings)

    def explain(self, failure: DragomanError) -> DragomanError:
        """The same failure, telling more where it can be found out; then it connects and blocks."""
        return explain(failure, self.settings, self.attempts.remaining())


class Calls:
    """Makes the calls of one client; a keyword that a method does not know is a TypeError."""

    __slots__ = ("settings",)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def translate(
        self,
        text: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
        **options: object,
    ) -> Call[list[Translation]]:
        """Translate texts; a single one counts as a list of one."""
        texts = listed(text, "text", str)
        return self._call(
            lambda stubs: stubs.translation.TranslateText,
            _requests.translate(texts, **self._model | options),
            lambda response: _responses.translations(response, len(texts)),
            timeout,
            metadata,
        )

    def stream(
        self,
        text: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
        **options: object,
    ) -> Call[StreamTranslateTextResponse]:
        """Stream the translation of one text; there are many responses, each its own result."""
        return self._call(
            lambda stubs: stubs.translation.StreamTranslateText,
            _requests.stream(text, **self._model | options),
            lambda response: response,
            timeout,
            metadata,
        )

    def next_token(
        self,
        text: object,
        prefix: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
        **options: object,
    ) -> Call[list[NextToken]]:
        """Predict after prefixes of one source; a single one counts as a list of one."""
        prefixes = listed(prefix, "prefix", str, TokenIds)
        return self._call(
            lambda stubs: stubs.translation.PredictNextToken,
            _requests.next_token(text, prefixes, **self._model | options),
            lambda response: _responses.next_tokens(response, len(prefixes)),
            timeout,
            metadata,
        )

    def score(
        self,
        text: object,
        translation: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
        **options: object,
    ) -> Call[list[TranslationScore]]:
        """Score translations of one source; a single one counts as a list of one."""
        given = listed(translation, "translation", str, TokenIds)
        return self._call(
            lambda stubs: stubs.translation.ScoreTranslation,
            _requests.score(text, given, **self._model | options),
            lambda response: _responses.scores(response, len(given)),
            timeout,
            metadata,
        )

    def get_model(
        self,
        name: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
    ) -> Call[Model]:
        """Ask for one model; None stands for the client's own."""
        return self._call(
            lambda stubs: stubs.model.GetModel,
            _requests.get_model(self.settings.model if name is None else name),
            lambda response: _responses.model(response.model),
            timeout,
            metadata,
        )

    def list_models(
        self, *, timeout: Timeout = NOT_GIVEN, metadata: Metadata | None = None
    ) -> ModelPages:
        """Ask for all models, page by page."""
        return ModelPages(
            self._call(
                lambda stubs: stubs.model.ListModels,
                _requests.list_models(""),
                lambda response: response,
                timeout,
                metadata,
            )
        )

    def health(
        self,
        service: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
    ) -> Call[ServingStatus]:
        """Ask for the health of a service."""
        return self._call(
            lambda stubs: stubs.health.Check,
            _requests.health(service),
            _responses.serving_status,
            timeout,
            metadata,
        )

    @property
    def _model(self) -> dict[str, object]:
        return {"model": self.settings.model}

    def _call(
        self,
        method: Callable[[Stubs], Any],
        request: Message,
        parse: Callable[[Any], Result],
        timeout: Timeout,
        metadata: Metadata | None,
    ) -> Call[Result]:
        limit = self.settings.timeout if isinstance(timeout, NotGiven) else timeout
        check_timeout(limit)
        return Call(
            method,
            request,
            parse,
            Attempts(limit, self.settings.max_attempts),
            pairs_of(self.settings.metadata) + pairs_of(metadata or {}),
            self.settings,
        )


class ModelPages:
    """One listing: carry out `next_page` until it gives False, then take `models`."""

    __slots__ = ("_first", "_token", "models")

    def __init__(self, first: Call[Any]) -> None:
        self._first = first
        self._token = ""
        self.models: list[Model] = []

    def next_page(self) -> Call[bool]:
        """The call for the next page; its result says whether there is another one.

        All of them share the time and the attempts of the first.
        """
        return replace(self._first, request=_requests.list_models(self._token), parse=self._add)

    def _add(self, response: ListModelsResponse) -> bool:
        self.models += [_responses.model(message) for message in response.models]
        if response.next_page_token and response.next_page_token == self._token:
            raise ProtocolError("the server sent the same page of models twice")
        self._token = response.next_page_token
        return bool(self._token)
