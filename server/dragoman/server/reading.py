"""Reads requests of the contract into requests of the engine, and refuses what is out of bounds.

All of it is computing without waiting, so that it may run on another thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dragoman.engine import (
    EngineLimits,
    NextTokenRequest,
    Prefix,
    ScoreRequest,
    SplitText,
    Tokenizer,
    TranslationRequest,
)
from dragoman.server.config import Config
from dragoman.server.decoding import Decoding, DecodingReader
from dragoman.server.errors import InvalidFieldError, UnknownModelError, quoted
from dragoman.server.fields import (
    FieldReader,
    check_count,
    require_one_line,
    require_single_line,
)
from dragoman.v1 import model_pb2, translation_pb2
from dragoman.v1.limits import (
    DEFAULT_TOP_K,
    MAX_PREFIX_COUNT,
    MAX_QUERIED_TOKEN_COUNT,
    MAX_SCORED_COUNT,
    MAX_TOP_K,
)


@dataclass(frozen=True, slots=True)
class Document:
    """One text to translate.

    Attributes:
        split: its lines and everything between them.
        requests: one for each line.
        decoding: what the request says about all lines.
        applying: for each line, which of the terms apply to it.
    """

    split: SplitText
    requests: tuple[TranslationRequest, ...]
    decoding: Decoding
    applying: tuple[tuple[bool, ...], ...]


class ModelChoice(Protocol):
    """What requests have in common: which model, for which languages."""

    @property
    def model(self) -> str: ...
    @property
    def source_language_code(self) -> str: ...
    @property
    def target_language_code(self) -> str: ...


SourceRequest = translation_pb2.PredictNextTokenRequest | translation_pb2.ScoreTranslationRequest
TranslateRequest = translation_pb2.TranslateTextRequest | translation_pb2.StreamTranslateTextRequest


class Reader:
    """Reads requests for one model.

    Its methods raise what is wrong with a request: `InvalidFieldError` with field, value and
    bound, or `UnknownModelError`.

    Args:
        model: the model as the contract describes it.
        tokenizer: the model's.
        limits: the engine's.
        config: the server's limits.
    """

    def __init__(
        self, model: model_pb2.Model, tokenizer: Tokenizer, limits: EngineLimits, config: Config
    ) -> None:
        self._model = model
        self._limits = limits
        self._config = config
        self._fields = FieldReader(tokenizer, limits, config.max_text_bytes)
        self._decoding = DecodingReader(tokenizer, limits, config.default_beam_size)

    def documents(
        self, request: translation_pb2.TranslateTextRequest, deadline: float
    ) -> list[Document]:
        """The texts of a TranslateText request, to be translated until `deadline` (monotonic)."""
        check_model(request, self._model)
        check_count("contents", request.contents, 1, self._config.max_contents)
        fields = [f"contents[{index}]" for index in range(len(request.contents))]
        return self._documents(request, fields, request.contents, deadline, stream=False)

    def document(
        self, request: translation_pb2.StreamTranslateTextRequest, deadline: float
    ) -> Document:
        """The text of a StreamTranslateText request."""
        check_model(request, self._model)
        return self._documents(request, ["content"], [request.content], deadline, stream=True)[0]

    def prediction(
        self, request: translation_pb2.PredictNextTokenRequest, deadline: float
    ) -> NextTokenRequest:
        """A PredictNextToken request."""
        check_model(request, self._model)
        check_count("target_prefixes", request.target_prefixes, 0, MAX_PREFIX_COUNT)
        check_count("queried_token_ids", request.queried_token_ids, 0, MAX_QUERIED_TOKEN_COUNT)
        self._fields.check_ids("queried_token_ids", request.queried_token_ids)
        prefixes = tuple(
            self._fields.prefix(f"target_prefixes[{index}]", prefix)
            for index, prefix in enumerate(request.target_prefixes)
        )
        return NextTokenRequest(
            source_ids=self._source(request),
            prefixes=prefixes or (Prefix(),),
            top_k=self._top_k(request),
            queried_ids=tuple(request.queried_token_ids),
            deadline=deadline,
        )

    def score(
        self, request: translation_pb2.ScoreTranslationRequest, deadline: float
    ) -> ScoreRequest:
        """A ScoreTranslation request."""
        check_model(request, self._model)
        check_count("translations", request.translations, 1, MAX_SCORED_COUNT)
        return ScoreRequest(
            source_ids=self._source(request),
            targets=tuple(
                self._fields.translation(f"translations[{index}]", translation)
                for index, translation in enumerate(request.translations)
            ),
            return_alignment=request.include_alignment,
            deadline=deadline,
        )

    def _documents(
        self,
        request: TranslateRequest,
        fields: Sequence[str],
        texts: Sequence[str],
        deadline: float,
        *,
        stream: bool,
    ) -> list[Document]:
        parts = list(map(self._fields.lines, fields, texts))
        count = sum(len(sources) for _, sources in parts)
        if count > self._config.max_lines:
            bound = f"at most {self._config.max_lines} lines in one request"
            raise InvalidFieldError(fields[0].partition("[")[0], f"{count} lines", bound)
        prefix = self._prefix(request)
        if prefix != Prefix():
            for field, (split, _) in zip(fields, parts, strict=True):
                require_single_line(field, split)
        decoding = self._decoding.read(request.decoding_options, prefix)
        if decoding.single_line_field:
            for field, (split, _) in zip(fields, parts, strict=True):
                require_one_line(field, split, decoding.single_line_field)
        documents = []
        for split, sources in parts:
            applying = tuple(decoding.applying(body) for body in split.bodies)
            requests = tuple(
                TranslationRequest(
                    source_ids=ids,
                    prefix_ids=prefix.ids,
                    starts_new_word=prefix.starts_new_word,
                    options=self._decoding.for_line(decoding, terms, prefix),
                    deadline=deadline,
                    stream=stream,
                )
                for ids, terms in zip(sources, applying, strict=True)
            )
            documents.append(Document(split, requests, decoding, applying))
        return documents

    def _prefix(self, request: TranslateRequest) -> Prefix:
        if not request.HasField("target_prefix"):
            return Prefix()
        return self._fields.prefix("target_prefix", request.target_prefix)

    def _source(self, request: SourceRequest) -> tuple[int, ...]:
        match request.WhichOneof("source"):
            case "text":
                return self._fields.sentence("text", request.text)
            case "token_ids":
                return self._fields.source_ids("token_ids.ids", request.token_ids.ids)
            case _:
                raise InvalidFieldError("source", "not given", "text or token_ids")

    def _top_k(self, request: translation_pb2.PredictNextTokenRequest) -> int:
        most = min(MAX_TOP_K, self._limits.vocabulary_size)
        if not request.HasField("top_k"):
            return min(DEFAULT_TOP_K, most)
        if not 1 <= request.top_k <= most:
            raise InvalidFieldError("top_k", str(request.top_k), f"1 to {most}")
        return request.top_k


def check_model(request: ModelChoice, model: model_pb2.Model) -> None:
    """Refuse a request that asks for another model or other languages.

    Raises:
        UnknownModelError: the model has another name.
        InvalidFieldError: a language is not the model's.
    """
    if request.model and request.model != model.name:
        raise UnknownModelError(request.model, model.name)
    for field in ("source_language_code", "target_language_code"):
        given, own = getattr(request, field), getattr(model, field)
        if given and given.lower() != own.lower():
            raise InvalidFieldError(field, quoted(given), f"{own!r}, as {model.name} has it")
