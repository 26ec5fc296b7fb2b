"""What both clients do alike: from a method's arguments to a call, from its response to a result.

The clients only carry calls out, each on its own gRPC stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from google.protobuf.message import Message

from dragoman.client import _requests, _responses
from dragoman.client._call import Call, Result, Stubs
from dragoman.client._retry import Attempts
from dragoman.client._settings import Settings, check_timeout, pairs_of
from dragoman.client._values import listed
from dragoman.client.errors import ProtocolError
from dragoman.client.models import Model
from dragoman.client.options import NOT_GIVEN, Metadata, NotGiven, Timeout, TokenIds
from dragoman.client.results import NextToken, ServingStatus, Translation, TranslationScore
from dragoman.v1.model_pb2 import ListModelsResponse
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


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
    ) -> Call[Translation | list[Translation]]:
        """Translate one text, or a list of them."""
        texts = listed(text, "text", str)
        return self._call(
            lambda stubs: stubs.translation.TranslateText,
            _requests.translate(texts, **self._model | options),
            lambda response: _like(text, _responses.translations(response, len(texts))),
            timeout,
            metadata,
            known=None if texts else [],
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
    ) -> Call[NextToken | list[NextToken]]:
        """Predict after one prefix of a source, or after a list of them."""
        prefixes = listed(prefix, "prefix", str, TokenIds)
        return self._call(
            lambda stubs: stubs.translation.PredictNextToken,
            _requests.next_token(text, prefixes, **self._model | options),
            lambda response: _like(prefix, _responses.next_tokens(response, len(prefixes))),
            timeout,
            metadata,
            known=None if prefixes else [],
        )

    def score(
        self,
        text: object,
        translation: object,
        *,
        timeout: Timeout = NOT_GIVEN,
        metadata: Metadata | None = None,
        **options: object,
    ) -> Call[TranslationScore | list[TranslationScore]]:
        """Score one translation of a source, or a list of them."""
        given = listed(translation, "translation", str, TokenIds)
        return self._call(
            lambda stubs: stubs.translation.ScoreTranslation,
            _requests.score(text, given, **self._model | options),
            lambda response: _like(translation, _responses.scores(response, len(given))),
            timeout,
            metadata,
            known=None if given else [],
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
        known: Result | None = None,
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
            known,
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


def _like(given: object, results: list[Result]) -> Result | list[Result]:
    """All results where a list was given, the only one where a single thing was."""
    return results if isinstance(given, list | tuple) else results[0]
