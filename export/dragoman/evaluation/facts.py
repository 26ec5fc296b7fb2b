"""What the server tells of its model, as sections."""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.client import CertificateCheck, DataOrigin, Model
from dragoman.evaluation.format import NOTHING, count, quantity
from dragoman.evaluation.section import Section, Table

_UNTOLD = ("The bundle does not say.",)
_PUBLIC = ("https://", "http://")


def described(model: Model) -> Section:
    """Name, shape, bounds, licence."""
    shape = model.architecture
    layers = f"{shape.encoder_layer_count} + {shape.decoder_layer_count}"
    rows = (
        ("name", model.name),
        ("languages", f"{model.source_language_code} to {model.target_language_code}"),
        ("licence", model.license),
        ("precision", model.precision),
        ("layers of encoder + decoder", layers),
        ("width", count(shape.model_width)),
        ("heads", count(shape.head_count)),
        ("width of the feed-forward networks", count(shape.feed_forward_width)),
        ("normalization", shape.normalization),
        ("vocabulary", count(model.vocabulary_size)),
        ("tokens of a line at most", count(model.max_source_token_count)),
        ("tokens of its translation at most", count(model.max_target_token_count)),
        ("SHA-256 of the manifest", model.sha256),
    )
    return Section("Model", table=Table(("fact", "value"), rows))


def training(model: Model) -> Section:
    """Steps, tokens, hours."""
    facts = model.training
    if facts is None:
        return Section("Training", _UNTOLD)
    hours = None if facts.seconds is None else f"{facts.seconds / 3600:.1f}"
    told = (
        ("steps", facts.step_count),
        ("target tokens seen", facts.target_token_count),
        ("sentence pairs", facts.sentence_pair_count),
        ("parameters", facts.parameter_count),
        ("hours", hours),
    )
    rows = [
        (name, count(value) if isinstance(value, int) else value)
        for name, value in told
        if value is not None
    ]
    return _table("Training", ("fact", "value"), rows)


def data(model: Model) -> Section:
    """The origins of the training data."""
    header = ("origin", "sentence pairs", "licence", "from")
    return _table("Data", header, map(_origin, model.data_origins))


def certificate(model: Model) -> Section:
    """What was checked when the model was exported."""
    header = ("check", "figure", "at most", "unit", "what was compared")
    return _table("Certificate of the export", header, map(_check, model.certificate))


def _origin(origin: DataOrigin) -> tuple[str, ...]:
    pairs = origin.sentence_pair_count
    # A model trained on files of one machine may name them; a card is for everybody.
    uri = origin.uri if origin.uri.startswith(_PUBLIC) else ""
    return origin.name, NOTHING if pairs is None else count(pairs), origin.license, uri


def _check(check: CertificateCheck) -> tuple[str, ...]:
    bound = NOTHING if check.bound is None else quantity(check.bound)
    return check.name, quantity(check.value), bound, check.unit, check.description


def _table(title: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Section:
    found = tuple(rows)
    return Section(title, table=Table(header, found)) if found else Section(title, _UNTOLD)
