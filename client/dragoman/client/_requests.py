"""From arguments to request messages. Whatever gRPC could not send is refused here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grpc_health.v1 import health_pb2

from dragoman.client._decoding import decoding_options
from dragoman.client._values import boolean, checked_text, int32, int32s
from dragoman.client.options import TokenIds
from dragoman.v1 import model_pb2, translation_pb2


def translate(
    texts: Sequence[object],
    *,
    model: object,
    prefix: object = "",
    source_language_code: object = "",
    target_language_code: object = "",
    **decoding: object,
) -> translation_pb2.TranslateTextRequest:
    """The request of one unary translation; each text is checked by its place."""
    return translation_pb2.TranslateTextRequest(
        model=checked_text(model, "model"),
        contents=[checked_text(text, f"contents[{index}]") for index, text in enumerate(texts)],
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
        decoding_options=decoding_options(**decoding),
        target_prefix=_optional_prefix(prefix),
    )


def stream(
    text: object,
    *,
    model: object,
    prefix: object = "",
    source_language_code: object = "",
    target_language_code: object = "",
    **decoding: object,
) -> translation_pb2.StreamTranslateTextRequest:
    """The request of one streamed translation."""
    return translation_pb2.StreamTranslateTextRequest(
        model=checked_text(model, "model"),
        content=checked_text(text, "content"),
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
        decoding_options=decoding_options(**decoding),
        target_prefix=_optional_prefix(prefix),
    )


def next_token(
    source: object,
    prefixes: Sequence[object],
    *,
    top_k: object,
    queried: object,
    model: object,
    source_language_code: object = "",
    target_language_code: object = "",
) -> translation_pb2.PredictNextTokenRequest:
    """The request of one prediction after one or several prefixes."""
    return translation_pb2.PredictNextTokenRequest(
        model=checked_text(model, "model"),
        target_prefixes=[
            _prefix(prefix, f"target_prefixes[{index}]") for index, prefix in enumerate(prefixes)
        ],
        top_k=int32(top_k, "top_k"),
        queried_token_ids=int32s(queried, "queried_token_ids"),
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
        **_source(source),
    )


def score(
    source: object,
    translations: Sequence[object],
    *,
    model: object,
    include_alignment: object,
    source_language_code: object = "",
    target_language_code: object = "",
) -> translation_pb2.ScoreTranslationRequest:
    """The request for the scores of one or several translations."""
    return translation_pb2.ScoreTranslationRequest(
        model=checked_text(model, "model"),
        translations=[
            translation_pb2.GivenTranslation(**_text_or_ids(translation, f"translations[{index}]"))
            for index, translation in enumerate(translations)
        ],
        include_alignment=boolean(include_alignment, "include_alignment"),
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
        **_source(source),
    )


def get_model(name: object) -> model_pb2.GetModelRequest:
    """The request that asks for one model."""
    return model_pb2.GetModelRequest(name=checked_text(name, "name"))


def list_models(page_token: str) -> model_pb2.ListModelsRequest:
    """The request for one page of models."""
    return model_pb2.ListModelsRequest(page_token=page_token)


def health(service: object) -> health_pb2.HealthCheckRequest:
    """The request for the health of one service."""
    return health_pb2.HealthCheckRequest(service=checked_text(service, "service"))


def _source(source: object) -> dict[str, Any]:
    if isinstance(source, TokenIds):
        ids = int32s(source.ids, "token_ids.ids")
        return {"token_ids": translation_pb2.TokenIds(ids=ids)}
    return {"text": checked_text(source, "text")}


def _optional_prefix(prefix: object) -> translation_pb2.TargetPrefix | None:
    return None if prefix == "" else _prefix(prefix, "target_prefix")


def _prefix(prefix: object, field: str) -> translation_pb2.TargetPrefix:
    return translation_pb2.TargetPrefix(**_text_or_ids(prefix, field))


def _text_or_ids(value: object, field: str) -> dict[str, Any]:
    """The part of a message that holds a text or its tokens."""
    if isinstance(value, TokenIds):
        ids = int32s(value.ids, f"{field}.token_ids.ids")
        return {"token_ids": translation_pb2.TokenIds(ids=ids)}
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a str or TokenIds, not {type(value).__name__}")
    return {"text": checked_text(value, f"{field}.text")}
