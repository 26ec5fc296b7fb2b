"""What a server tells of its models: frozen values, independent of protobuf."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The shape of a Transformer.

    Attributes:
        model_width: width of the model.
        head_count: heads of each attention.
        feed_forward_width: inner width of the feed-forward networks.
        encoder_layer_count: layers of the encoder.
        decoder_layer_count: layers of the decoder.
        normalization: where the layer normalization stands, ``"pre"`` or ``"post"``; ``"unknown"``
            where this version of the SDK does not know the server's answer.
    """

    model_width: int
    head_count: int
    feed_forward_width: int
    encoder_layer_count: int
    decoder_layer_count: int
    normalization: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOrigin:
    """A source of training data.

    Attributes:
        name: name of the data set.
        license: its licence, an SPDX expression where there is one; empty where not known.
        uri: where the data came from; empty where not known.
        sentence_pair_count: how many sentence pairs of it were used; None where not known.
    """

    name: str
    license: str
    uri: str
    sentence_pair_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How a model was trained; None stands for what the bundle does not say.

    Attributes:
        step_count: updates of the weights.
        target_token_count: target tokens that the training saw, repetitions counted.
        sentence_pair_count: different sentence pairs that it was trained on.
        parameter_count: trained numbers, each shared one counted once.
        seconds: the time that training took.
    """

    step_count: int | None
    target_token_count: int | None
    sentence_pair_count: int | None
    parameter_count: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateCheck:
    """One measurement made when a model was exported.

    Attributes:
        name: its name, in lower_snake_case.
        description: what was compared with what.
        value: the figure measured.
        bound: the most that it may be; None for a figure that is reported only.
        unit: unit of both; empty for a ratio or a count.
    """

    name: str
    description: str
    value: float
    bound: float | None
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A trained Transformer as it is served.

    Attributes:
        name: ``"models/..."``, accepted by every call as `model`.
        display_name: its name for people.
        source_language_code: the language that it reads, BCP-47.
        target_language_code: the language that it writes, BCP-47.
        precision: ``"fp32"`` or ``"int8"``; ``"unknown"`` where this version of the SDK does not
            know the server's answer.
        architecture: its shape.
        max_source_token_count: the most tokens of a source line, end of sentence included.
        max_target_token_count: the most tokens of a line's translation, end of sentence included.
        vocabulary_size: tokens of its vocabulary.
        license: licence of the weights, an SPDX expression.
        data_origins: what it was trained on.
        training: how it was trained; None where the bundle does not say.
        certificate: what was measured when it was exported.
        format_version: version of the bundle's format.
        sha256: hash of the bundle's manifest, hexadecimal: its identity.
    """

    name: str
    display_name: str
    source_language_code: str
    target_language_code: str
    precision: str
    architecture: Architecture
    max_source_token_count: int
    max_target_token_count: int
    vocabulary_size: int
    license: str
    data_origins: tuple[DataOrigin, ...]
    training: Training | None
    certificate: tuple[CertificateCheck, ...]
    format_version: int
    sha256: str
