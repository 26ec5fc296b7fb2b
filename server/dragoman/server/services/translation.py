"""``dragoman.v1.TranslationService``."""

import time
from collections.abc import AsyncIterator, Iterable
from typing import cast

from dragoman.server import answers
from dragoman.server.backend import Gate
from dragoman.server.config import Config
from dragoman.server.interceptors.access_log import note
from dragoman.server.interceptors.base import Context
from dragoman.v1 import translation_pb2, translation_pb2_grpc


class TranslationService(translation_pb2_grpc.TranslationServiceServicer):
    """Reads requests, has the engine run them, puts the answers together.

    Whatever ends a call early (the client, its deadline, an error) cancels its requests in the
    engine at once. Handlers raise; the error interceptor answers.

    Args:
        gate: to the engine.
        config: limits and what may be logged.
    """

    def __init__(self, gate: Gate, config: Config) -> None:
        self._gate = gate
        self._config = config

    async def TranslateText(  # noqa: N802  (the contract's name)
        self, request: translation_pb2.TranslateTextRequest, context: Context
    ) -> translation_pb2.TranslateTextResponse:
        """Translate texts, all their lines at once."""
        arrival = time.monotonic()
        backend = self._gate.backend()
        reader, tokenizer = backend.reader, backend.engine.tokenizer
        documents = await backend.read(
            request.ByteSize(), reader.documents, request, self._deadline(context, arrival)
        )
        requests = [line for document in documents for line in document.requests]
        note(content_count=len(documents), line_count=len(requests))
        with backend.runner.translate(requests) as run:
            lines = await run.answers()
        response = translation_pb2.TranslateTextResponse(
            translations=answers.translations(documents, lines, tokenizer, arrival),
            model=backend.model.name,
            seed=documents[0].decoding.seed,
        )
        note(**_tokens(translation.usage for translation in response.translations))
        if self._config.log_texts:
            note(
                texts=list(request.contents),
                translations=[translation.text for translation in response.translations],
            )
        return response

    async def StreamTranslateText(  # noqa: N802
        self, request: translation_pb2.StreamTranslateTextRequest, context: Context
    ) -> AsyncIterator[translation_pb2.StreamTranslateTextResponse]:
        """Translate one text; send its lines in order, as their tokens come."""
        arrival = time.monotonic()
        backend = self._gate.backend()
        document = await backend.read(
            request.ByteSize(),
            backend.reader.document,
            request,
            self._deadline(context, arrival),
        )
        note(content_count=1, line_count=len(document.requests))
        if self._config.log_texts:
            note(texts=[request.content])
        text = document.split.separators[0]
        with backend.runner.translate(document.requests) as run:
            for index, separator in enumerate(document.split.separators[1:]):
                decoder = backend.engine.tokenizer.stream_decoder()
                done = False
                while not done:
                    if text:
                        yield translation_pb2.StreamTranslateTextResponse(text_delta=text)
                        await run.gather(index, self._config.stream_interval_seconds)
                    tokens, done = await run.read(index)
                    text = decoder.feed(tokens)
                text += decoder.finish() + separator
            lines = await run.answers()
        summary = answers.summary(
            document, lines, backend.engine.tokenizer, backend.model.name, arrival
        )
        note(**_tokens([summary.usage]))
        yield translation_pb2.StreamTranslateTextResponse(text_delta=text, summary=summary)

    async def PredictNextToken(  # noqa: N802
        self, request: translation_pb2.PredictNextTokenRequest, context: Context
    ) -> translation_pb2.PredictNextTokenResponse:
        """Tell the distribution of the next token after each prefix."""
        arrival = time.monotonic()
        backend = self._gate.backend()
        reader, tokenizer = backend.reader, backend.engine.tokenizer
        question = await backend.read(
            request.ByteSize(), reader.prediction, request, self._deadline(context, arrival)
        )
        note(prefix_count=len(question.prefixes))
        if self._config.log_texts:
            note(texts=[request.text])
        with backend.runner.predict(question) as run:
            (answer,) = await run.answers()
        note(source_tokens=answer.result.source_token_count)
        return translation_pb2.PredictNextTokenResponse(
            predictions=[
                answers.prediction(prefix, prediction, tokenizer)
                for prefix, prediction in zip(
                    question.prefixes, answer.result.predictions, strict=True
                )
            ],
            model=backend.model.name,
            source_token_count=answer.result.source_token_count,
        )

    async def ScoreTranslation(  # noqa: N802
        self, request: translation_pb2.ScoreTranslationRequest, context: Context
    ) -> translation_pb2.ScoreTranslationResponse:
        """Tell how probable given translations are."""
        arrival = time.monotonic()
        backend = self._gate.backend()
        reader, tokenizer = backend.reader, backend.engine.tokenizer
        question = await backend.read(
            request.ByteSize(), reader.score, request, self._deadline(context, arrival)
        )
        note(translation_count=len(question.targets))
        if self._config.log_texts:
            given = [translation.text for translation in request.translations]
            note(texts=[request.text], translations=given)
        with backend.runner.score(question) as run:
            (answer,) = await run.answers()
        note(source_tokens=answer.result.source_token_count)
        return translation_pb2.ScoreTranslationResponse(
            scores=answers.scores(question, answer.result, tokenizer),
            model=backend.model.name,
            source_token_count=answer.result.source_token_count,
        )

    def _deadline(self, context: Context, arrival: float) -> float:
        # gRPC counts by the wall clock, which may jump: converted once, here.
        remaining = cast(float | None, context.time_remaining())  # the stubs forget None
        if remaining is None:
            return arrival + self._config.default_deadline_seconds
        return arrival + remaining


def _tokens(usages: Iterable[translation_pb2.Usage]) -> dict[str, int]:
    usages = list(usages)
    return {
        "source_tokens": sum(usage.source_token_count for usage in usages),
        "target_tokens": sum(usage.target_token_count for usage in usages),
    }
