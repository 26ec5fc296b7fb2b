"""From response messages to results."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2

from dragoman.client.errors import ProtocolError
from dragoman.client.models import (
    Architecture,
    CertificateCheck,
    DataOrigin,
    Model,
    Training,
)
from dragoman.client.results import (
    Alignment,
    Candidate,
    FinishReason,
    Hypothesis,
    NextToken,
    OutputToken,
    QueriedToken,
    ServingStatus,
    SourceToken,
    TermResult,
    Translation,
    TranslationScore,
)
from dragoman.v1 import model_pb2, translation_pb2

_FINISH_REASONS = {
    translation_pb2.FINISH_REASON_STOP: FinishReason.STOP,
    translation_pb2.FINISH_REASON_LENGTH: FinishReason.LENGTH,
    translation_pb2.FINISH_REASON_EMPTY: FinishReason.EMPTY,
    translation_pb2.FINISH_REASON_DEADLINE: FinishReason.DEADLINE,
}
_SERVING = {
    health_pb2.HealthCheckResponse.SERVING: ServingStatus.SERVING,
    health_pb2.HealthCheckResponse.NOT_SERVING: ServingStatus.NOT_SERVING,
}
_PRECISIONS = {model_pb2.PRECISION_FP32: "fp32", model_pb2.PRECISION_INT8: "int8"}
_NORMALIZATIONS = {model_pb2.NORMALIZATION_PRE: "pre", model_pb2.NORMALIZATION_POST: "post"}


def translations(response: translation_pb2.TranslateTextResponse, count: int) -> list[Translation]:
    """The translations of a unary call with `count` texts."""
    _check_count(len(response.translations), count, "translations")
    seed = response.seed if response.HasField("seed") else None
    return [_translation(item.text, item, response.model, seed) for item in response.translations]


def streamed(text: str, summary: translation_pb2.TranslationSummary) -> Translation:
    """The translation that a stream has delivered in pieces."""
    seed = summary.seed if summary.HasField("seed") else None
    return _translation(text, summary, summary.model, seed)


def next_tokens(response: translation_pb2.PredictNextTokenResponse, count: int) -> list[NextToken]:
    """The predictions of a call with `count` prefixes."""
    _check_count(len(response.predictions), count, "predictions")
    return [
        NextToken(
            candidates=tuple(_candidate(item) for item in prediction.candidates),
            queried=tuple(_queried(item) for item in prediction.queried_tokens),
            entropy=prediction.entropy,
            prefix_token_ids=tuple(prediction.prefix_token_ids.ids),
            source_token_count=response.source_token_count,
            model=response.model,
        )
        for prediction in response.predictions
    ]


def scores(
    response: translation_pb2.ScoreTranslationResponse, count: int
) -> list[TranslationScore]:
    """The scores of a call with `count` translations."""
    _check_count(len(response.scores), count, "scores")
    return [
        TranslationScore(
            log_probability=score.log_probability,
            tokens=tuple(map(_output_token, score.tokens)),
            alignment=_alignment(score),
            source_token_count=response.source_token_count,
            model=response.model,
        )
        for score in response.scores
    ]


def model(message: model_pb2.Model) -> Model:
    """A model with all that the server tells of it."""
    return Model(
        name=message.name,
        display_name=message.display_name,
        source_language_code=message.source_language_code,
        target_language_code=message.target_language_code,
        precision=_PRECISIONS.get(message.precision, "unknown"),
        architecture=_architecture(message.architecture),
        max_source_token_count=message.limits.max_source_token_count,
        max_target_token_count=message.limits.max_target_token_count,
        vocabulary_size=message.vocabulary_size,
        license=message.license,
        data_origins=tuple(_origin(item) for item in message.data_origins),
        training=_training(message.training) if message.HasField("training") else None,
        certificate=tuple(_check(item) for item in message.certificate.checks),
        format_version=message.format_version,
        sha256=message.sha256,
    )


def serving_status(response: health_pb2.HealthCheckResponse) -> ServingStatus:
    """The answer of a health check."""
    return _SERVING.get(response.status, ServingStatus.UNKNOWN)


def _check_count(received: int, expected: int, what: str) -> None:
    if received != expected:
        raise ProtocolError(f"the server sent {received} {what} for {expected} asked for")


def _translation(
    text: str,
    message: translation_pb2.Translation | translation_pb2.TranslationSummary,
    model_name: str,
    seed: int | None,
) -> Translation:
    return Translation(
        text=text,
        log_probability=message.log_probability,
        finish_reason=_FINISH_REASONS.get(message.finish_reason, FinishReason.UNKNOWN),
        source_token_count=message.usage.source_token_count,
        target_token_count=message.usage.target_token_count,
        model=model_name,
        hypotheses=tuple(map(_hypothesis, message.hypotheses)),
        term_results=tuple(map(_term_result, message.term_results)),
        seed=seed,
        queue_seconds=_seconds(message.usage.queue_duration),
        model_seconds=_seconds(message.usage.model_duration),
    )


def _hypothesis(message: translation_pb2.Hypothesis) -> Hypothesis:
    return Hypothesis(
        text=message.text,
        score=message.score,
        log_probability=message.log_probability,
        finish_reason=_FINISH_REASONS.get(message.finish_reason, FinishReason.UNKNOWN),
        tokens=tuple(map(_output_token, message.tokens)),
        term_results=tuple(map(_term_result, message.term_results)),
        alignment=_alignment(message),
    )


def _alignment(
    message: translation_pb2.Hypothesis | translation_pb2.TranslationScore,
) -> Alignment | None:
    if not message.HasField("alignment"):
        return None
    return Alignment(
        source_tokens=tuple(
            SourceToken(token_id=token.token_id, piece=token.piece, text=token.text)
            for token in message.alignment.source_tokens
        ),
        attention=tuple(tuple(each.weights) for each in message.alignment.attentions),
        links=tuple(message.alignment.links),
    )


def _output_token(message: translation_pb2.OutputToken) -> OutputToken:
    return OutputToken(
        token_id=message.token_id,
        piece=message.piece,
        text=message.text,
        log_probability=message.log_probability,
    )


def _term_result(message: translation_pb2.TermResult) -> TermResult:
    return TermResult(message.source_line_count, message.met_line_count)


def _candidate(message: translation_pb2.TokenCandidate) -> Candidate:
    return Candidate(
        token_id=message.token_id,
        piece=message.piece,
        text=message.text,
        log_probability=message.log_probability,
    )


def _queried(message: translation_pb2.QueriedToken) -> QueriedToken:
    return QueriedToken(
        token_id=message.token_id,
        piece=message.piece,
        text=message.text,
        log_probability=message.log_probability,
        rank=message.rank,
    )


def _architecture(message: model_pb2.Architecture) -> Architecture:
    return Architecture(
        model_width=message.model_width,
        head_count=message.head_count,
        feed_forward_width=message.feed_forward_width,
        encoder_layer_count=message.encoder_layer_count,
        decoder_layer_count=message.decoder_layer_count,
        normalization=_NORMALIZATIONS.get(message.normalization, "unknown"),
    )


def _origin(message: model_pb2.DataOrigin) -> DataOrigin:
    known = message.HasField("sentence_pair_count")
    return DataOrigin(
        name=message.name,
        license=message.license,
        uri=message.uri,
        sentence_pair_count=message.sentence_pair_count if known else None,
    )


def _training(message: model_pb2.Training) -> Training:
    known = {descriptor.name for descriptor, _ in message.ListFields()}
    return Training(
        step_count=message.step_count if "step_count" in known else None,
        target_token_count=message.target_token_count if "target_token_count" in known else None,
        sentence_pair_count=(
            message.sentence_pair_count if "sentence_pair_count" in known else None
        ),
        parameter_count=message.parameter_count if "parameter_count" in known else None,
        seconds=_seconds(message.duration) if "duration" in known else None,
    )


def _check(message: model_pb2.CertificateCheck) -> CertificateCheck:
    return CertificateCheck(
        name=message.name,
        description=message.description,
        value=message.value,
        bound=message.bound if message.HasField("bound") else None,
        unit=message.unit,
    )


def _seconds(duration: Duration) -> float:
    return duration.ToNanoseconds() / 1e9
