"""From arguments to request messages. Whatever gRPC could not send is refused here."""

from __future__ import annotations

from collections.abc import Sequence

from grpc_health.v1 import health_pb2

from dragoman.client.errors import InvalidArgumentError
from dragoman.client.results import TokenIds
from dragoman.v1 import model_pb2, translation_pb2

_INT32_MAX = 2**31 - 1


def translate(
    texts: Sequence[object],
    *,
    model: object,
    prefix: object = "",
    max_output_tokens: object = None,
    source_language_code: object = "",
    target_language_code: object = "",
) -> translation_pb2.TranslateTextRequest:
    """The request of one unary translation; each text is checked by its place."""
    return translation_pb2.TranslateTextRequest(
        model=checked_text(model, "model"),
        contents=[checked_text(text, f"contents[{index}]") for index, text in enumerate(texts)],
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
        decoding_options=_decoding_options(max_output_tokens),
        target_prefix=_optional_prefix(prefix),
    )


def stream(
    text: object,
    *,
    model: object,
    prefix: object = "",
    max_output_tokens: object = None,
    source_language_code: object = "",
    target_language_code: object = "",
) -> translation_pb2.StreamTranslateTextRequest:
    """The request of one streamed translation."""
    return translation_pb2.StreamTranslateTextRequest(
        model=checked_text(model, "model"),
        content=checked_text(text, "content"),
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
        decoding_options=_decoding_options(max_output_tokens),
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
    request = translation_pb2.PredictNextTokenRequest(
        model=checked_text(model, "model"),
        target_prefixes=[
            _prefix(prefix, f"target_prefixes[{index}]") for index, prefix in enumerate(prefixes)
        ],
        top_k=_number(top_k, "top_k"),
        queried_token_ids=_numbers(queried, "queried_token_ids"),
        source_language_code=checked_text(source_language_code, "source_language_code"),
        target_language_code=checked_text(target_language_code, "target_language_code"),
    )
    if isinstance(source, TokenIds):
        request.token_ids.ids.extend(_numbers(source.ids, "token_ids.ids"))
        request.token_ids.SetInParent()
    else:
        request.text = checked_text(source, "text")
    return request


def get_model(name: object) -> model_pb2.GetModelRequest:
    """The request that asks for one model."""
    return model_pb2.GetModelRequest(name=checked_text(name, "name"))


def list_models(page_token: str) -> model_pb2.ListModelsRequest:
    """The request for one page of models."""
    return model_pb2.ListModelsRequest(page_token=page_token)


def health(service: object) -> health_pb2.HealthCheckRequest:
    """The request for the health of one service."""
    return health_pb2.HealthCheckRequest(service=checked_text(service, "service"))


def listed(value: object, name: str, *kinds: type) -> Sequence[object]:
    """`value` itself where it is a list or tuple, a list of it where it is of one of the kinds.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, kinds):
        return [value]
    if isinstance(value, list | tuple):
        return value
    one = " or ".join(kind.__name__ for kind in kinds)
    raise TypeError(f"{name} must be a {one}, or a list of them, not {type(value).__name__}")


def checked_text(value: object, field: str) -> str:
    """A text that can be sent.

    Raises:
        TypeError: no `str`.
        InvalidArgumentError: it holds a lone surrogate, which UTF-8 cannot spell.
    """
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found = f"U+{ord(value[error.start]):04X} at index {error.start}"
        raise InvalidArgumentError.of(field, f"lone surrogate {found}") from None
    return value


def _decoding_options(max_output_tokens: object) -> translation_pb2.DecodingOptions | None:
    if max_output_tokens is None:
        return None
    field = "decoding_options.max_output_token_count"
    return translation_pb2.DecodingOptions(max_output_token_count=_number(max_output_tokens, field))


def _optional_prefix(prefix: object) -> translation_pb2.TargetPrefix | None:
    return None if prefix == "" else _prefix(prefix, "target_prefix")


def _prefix(prefix: object, field: str) -> translation_pb2.TargetPrefix:
    if isinstance(prefix, TokenIds):
        ids = _numbers(prefix.ids, f"{field}.token_ids.ids")
        return translation_pb2.TargetPrefix(token_ids=translation_pb2.TokenIds(ids=ids))
    if not isinstance(prefix, str):
        raise TypeError(f"{field} must be a str or TokenIds, not {type(prefix).__name__}")
    return translation_pb2.TargetPrefix(text=checked_text(prefix, f"{field}.text"))


def _numbers(values: object, field: str) -> list[int]:
    if not isinstance(values, list | tuple):
        raise TypeError(f"{field} must be a list or tuple of int, not {type(values).__name__}")
    return [_number(value, f"{field}[{index}]") for index, value in enumerate(values)]


def _number(value: object, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{field} must be an int, not {type(value).__name__}")
    if not -_INT32_MAX - 1 <= value <= _INT32_MAX:
        raise InvalidArgumentError.of(field, f"{value} is no 32-bit integer")
    return value
