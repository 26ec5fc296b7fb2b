"""A test set, a model and results made by hand."""

from __future__ import annotations

from dragoman.client import Architecture, CertificateCheck, DataOrigin, Model, Training
from dragoman.evaluation.results import Evaluation, Result
from dragoman.evaluation.sentences import EvaluationSet
from dragoman.evaluation.translating import Decoding, Output, Speed

TEST = EvaluationSet(
    name="small.tsv",
    sources=(
        "Open the file %s now",
        "Save 2 files",
        "Once upon a time there was a king",
        "See https://example.org for more",
    ),
    references=(
        "Die Datei %s jetzt öffnen",
        "2 Dateien speichern",
        "Es war einmal ein König",
        "Siehe https://example.org für mehr",
    ),
    domains=("ui", "ui", "prose", "prose"),
    rejected={"columns": 3},
)

GOOD = TEST.references
BAD = ("Die Datei jetzt öffnen", "Save 2 files", "König König König", "")

MODEL = Model(
    name="models/small",
    display_name="English to German, small",
    source_language_code="en",
    target_language_code="de",
    precision="int8",
    architecture=Architecture(
        model_width=256,
        head_count=8,
        feed_forward_width=1024,
        encoder_layer_count=4,
        decoder_layer_count=2,
        normalization="pre",
    ),
    max_source_token_count=255,
    max_target_token_count=254,
    vocabulary_size=8000,
    license="GPL-3.0-or-later AND CC-BY-SA-4.0",
    data_origins=(
        DataOrigin(name="app-ui", license="various", uri="", sentence_pair_count=398232),
        DataOrigin(name="own", license="", uri="file:///srv/own.tsv", sentence_pair_count=None),
        DataOrigin(
            name="ding",
            license="GPL-2.0-or-later",
            uri="https://example.org/ding",
            sentence_pair_count=444258,
        ),
    ),
    training=Training(
        step_count=12345,
        target_token_count=67_890_123,
        sentence_pair_count=1_554_638,
        parameter_count=7_654_321,
        seconds=45_000.0,
    ),
    certificate=(
        CertificateCheck(
            name="stepped_equals_uncached",
            description="greatest difference of log-probabilities",
            value=3.2e-5,
            bound=1e-4,
            unit="nats",
        ),
        CertificateCheck(
            name="int8_chrf_loss", description="on dev text", value=0.12, bound=1.0, unit="chrF"
        ),
    ),
    format_version=1,
    sha256="0f" * 32,
)

SPEED = Speed(seconds=2.0, requests=64, sentences=4, source_tokens=36, target_tokens=30)


def result(texts: tuple[str, ...] = BAD, decoding: Decoding | None = None) -> Result:
    """The outcome of one decoding; an empty text stands for a refused sentence."""
    outputs = [Output(text, 9, 8, is_cut=False, is_refused=not text) for text in texts]
    return Result.of(TEST, decoding or Decoding(), outputs, SPEED)


def evaluation(*results: Result) -> Evaluation:
    """An evaluation of the model."""
    return Evaluation(MODEL, TEST, results or (result(),))
