from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.engine import Bundle, EngineLimits
from dragoman.server.catalog import describe
from dragoman.v1 import model_pb2


@pytest.fixture(scope="module")
def bundle(tiny_bundle: Path) -> Bundle:
    return Bundle.load(tiny_bundle)


def description(bundle: Bundle) -> model_pb2.Model:
    limits = EngineLimits(
        max_source_tokens=bundle.limits.max_source_tokens,
        max_target_tokens=bundle.limits.max_target_tokens,
        max_rows=1,
        vocabulary_size=bundle.architecture.vocabulary_size,
    )
    return describe(bundle, limits)


def test_the_bundle_as_it_is(bundle: Bundle) -> None:
    model = description(bundle)
    assert model.name == f"models/{bundle.name}"
    assert model.source_language_code == bundle.source_language_code
    assert model.target_language_code == bundle.target_language_code
    assert model.sha256 == bundle.sha256
    assert model.license == bundle.license
    assert model.format_version == bundle.format_version == 2
    assert model.vocabulary_size == bundle.architecture.vocabulary_size
    assert model.architecture.model_width == bundle.architecture.d_model
    assert model.architecture.head_count == bundle.architecture.heads
    assert model.limits.max_source_token_count == bundle.limits.max_source_tokens
    assert model.precision != model_pb2.PRECISION_UNSPECIFIED
    assert model.architecture.normalization != model_pb2.NORMALIZATION_UNSPECIFIED
    assert all(check.name and check.description for check in model.certificate.checks)


def test_what_a_bundle_does_not_say_stays_unset(bundle: Bundle) -> None:
    model = description(replace(bundle, training={}, certificate={}, origins=()))
    assert not model.HasField("training")
    assert not model.HasField("certificate")
    assert not model.data_origins


def test_origins_training_and_certificate_in_full(bundle: Bundle) -> None:
    origin = {"name": "a", "license": "MIT", "uri": "https://a.example", "sentence_pair_count": 7}
    check = {"name": "parity", "description": "d", "value": 1e-5, "bound": 1e-4, "unit": "nats"}
    full = replace(
        bundle,
        origins=(origin, {"name": "b"}),
        training={"step_count": 5, "duration_seconds": 1.5},
        certificate={"checks": [check, {"name": "size", "description": "s", "value": 2}]},
    )
    model = description(full)
    first, second = model.data_origins
    assert (first.license, first.uri, first.sentence_pair_count) == ("MIT", "https://a.example", 7)
    assert not second.HasField("sentence_pair_count")
    assert model.training.step_count == 5
    assert not model.training.HasField("target_token_count")
    assert model.training.duration.ToMilliseconds() == 1500
    bounded, reported = model.certificate.checks
    assert (bounded.value, bounded.bound, bounded.unit) == (1e-5, 1e-4, "nats")
    assert not reported.HasField("bound")
