"""The served model as the contract describes it."""

from collections.abc import Mapping
from typing import Any

from dragoman.engine import Bundle, EngineLimits
from dragoman.server.durations import duration
from dragoman.v1 import model_pb2

PRECISIONS = {
    "fp32": model_pb2.PRECISION_FP32,
    "int8": model_pb2.PRECISION_INT8,
}
NORMALIZATIONS = {
    "pre": model_pb2.NORMALIZATION_PRE,
    "post": model_pb2.NORMALIZATION_POST,
}


def describe(bundle: Bundle, limits: EngineLimits) -> model_pb2.Model:
    """All that a bundle says about its model; what it does not say stays unset."""
    shape = bundle.architecture
    return model_pb2.Model(
        name=f"models/{bundle.name}",
        display_name=f"{bundle.source_language_code} to {bundle.target_language_code}, "
        f"{bundle.name}",
        source_language_code=bundle.source_language_code,
        target_language_code=bundle.target_language_code,
        precision=PRECISIONS[bundle.precision],
        architecture=model_pb2.Architecture(
            model_width=shape.d_model,
            head_count=shape.heads,
            feed_forward_width=shape.feed_forward,
            encoder_layer_count=shape.encoder_layers,
            decoder_layer_count=shape.decoder_layers,
            normalization=NORMALIZATIONS[shape.norm],
        ),
        limits=model_pb2.ModelLimits(
            max_source_token_count=limits.max_source_tokens,
            max_target_token_count=limits.max_target_tokens,
        ),
        vocabulary_size=shape.vocabulary_size,
        license=bundle.license,
        data_origins=[_origin(origin) for origin in bundle.origins],
        training=_training(bundle.training),
        certificate=_certificate(bundle.certificate),
        format_version=bundle.format_version,
        sha256=bundle.sha256,
    )


def _origin(origin: object) -> model_pb2.DataOrigin:
    if not isinstance(origin, Mapping):
        return model_pb2.DataOrigin(name=str(origin))
    return model_pb2.DataOrigin(
        name=str(origin.get("name", "")),
        license=str(origin.get("license", "")),
        uri=str(origin.get("uri", "")),
        sentence_pair_count=_count(origin, "sentence_pair_count"),
    )


def _training(facts: Mapping[str, Any]) -> model_pb2.Training | None:
    if not facts:
        return None
    seconds = facts.get("duration_seconds")
    return model_pb2.Training(
        step_count=_count(facts, "step_count"),
        target_token_count=_count(facts, "target_token_count"),
        sentence_pair_count=_count(facts, "sentence_pair_count"),
        parameter_count=_count(facts, "parameter_count"),
        duration=duration(seconds) if isinstance(seconds, int | float) else None,
    )


def _certificate(facts: Mapping[str, Any]) -> model_pb2.Certificate | None:
    checks = facts.get("checks")
    if not isinstance(checks, list):
        return None
    return model_pb2.Certificate(checks=[_check(check) for check in checks])


def _check(check: Mapping[str, Any]) -> model_pb2.CertificateCheck:
    return model_pb2.CertificateCheck(
        name=str(check.get("name", "")),
        description=str(check.get("description", "")),
        value=float(check.get("value", 0.0)),
        bound=check.get("bound"),
        unit=str(check.get("unit", "")),
    )


def _count(facts: Mapping[str, Any], name: str) -> int | None:
    value = facts.get(name)
    return value if isinstance(value, int) else None
