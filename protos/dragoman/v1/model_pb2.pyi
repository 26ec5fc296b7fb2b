import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Precision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRECISION_UNSPECIFIED: _ClassVar[Precision]
    PRECISION_FP32: _ClassVar[Precision]
    PRECISION_INT8: _ClassVar[Precision]

class Normalization(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NORMALIZATION_UNSPECIFIED: _ClassVar[Normalization]
    NORMALIZATION_PRE: _ClassVar[Normalization]
    NORMALIZATION_POST: _ClassVar[Normalization]
PRECISION_UNSPECIFIED: Precision
PRECISION_FP32: Precision
PRECISION_INT8: Precision
NORMALIZATION_UNSPECIFIED: Normalization
NORMALIZATION_PRE: Normalization
NORMALIZATION_POST: Normalization

class ListModelsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models", "next_page_token")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    next_page_token: str
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetModelRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetModelResponse(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: Model
    def __init__(self, model: _Optional[_Union[Model, _Mapping]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("name", "display_name", "source_language_code", "target_language_code", "precision", "architecture", "limits", "vocabulary_size", "license", "data_origins", "training", "certificate", "format_version", "sha256")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    ARCHITECTURE_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_SIZE_FIELD_NUMBER: _ClassVar[int]
    LICENSE_FIELD_NUMBER: _ClassVar[int]
    DATA_ORIGINS_FIELD_NUMBER: _ClassVar[int]
    TRAINING_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    name: str
    display_name: str
    source_language_code: str
    target_language_code: str
    precision: Precision
    architecture: Architecture
    limits: ModelLimits
    vocabulary_size: int
    license: str
    data_origins: _containers.RepeatedCompositeFieldContainer[DataOrigin]
    training: Training
    certificate: Certificate
    format_version: int
    sha256: str
    def __init__(self, name: _Optional[str] = ..., display_name: _Optional[str] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., precision: _Optional[_Union[Precision, str]] = ..., architecture: _Optional[_Union[Architecture, _Mapping]] = ..., limits: _Optional[_Union[ModelLimits, _Mapping]] = ..., vocabulary_size: _Optional[int] = ..., license: _Optional[str] = ..., data_origins: _Optional[_Iterable[_Union[DataOrigin, _Mapping]]] = ..., training: _Optional[_Union[Training, _Mapping]] = ..., certificate: _Optional[_Union[Certificate, _Mapping]] = ..., format_version: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...

class Architecture(_message.Message):
    __slots__ = ("model_width", "head_count", "feed_forward_width", "encoder_layer_count", "decoder_layer_count", "normalization")
    MODEL_WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEAD_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEED_FORWARD_WIDTH_FIELD_NUMBER: _ClassVar[int]
    ENCODER_LAYER_COUNT_FIELD_NUMBER: _ClassVar[int]
    DECODER_LAYER_COUNT_FIELD_NUMBER: _ClassVar[int]
    NORMALIZATION_FIELD_NUMBER: _ClassVar[int]
    model_width: int
    head_count: int
    feed_forward_width: int
    encoder_layer_count: int
    decoder_layer_count: int
    normalization: Normalization
    def __init__(self, model_width: _Optional[int] = ..., head_count: _Optional[int] = ..., feed_forward_width: _Optional[int] = ..., encoder_layer_count: _Optional[int] = ..., decoder_layer_count: _Optional[int] = ..., normalization: _Optional[_Union[Normalization, str]] = ...) -> None: ...

class ModelLimits(_message.Message):
    __slots__ = ("max_source_token_count", "max_target_token_count")
    MAX_SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_TARGET_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_source_token_count: int
    max_target_token_count: int
    def __init__(self, max_source_token_count: _Optional[int] = ..., max_target_token_count: _Optional[int] = ...) -> None: ...

class DataOrigin(_message.Message):
    __slots__ = ("name", "license", "uri", "sentence_pair_count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LICENSE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    license: str
    uri: str
    sentence_pair_count: int
    def __init__(self, name: _Optional[str] = ..., license: _Optional[str] = ..., uri: _Optional[str] = ..., sentence_pair_count: _Optional[int] = ...) -> None: ...

class Training(_message.Message):
    __slots__ = ("step_count", "target_token_count", "sentence_pair_count", "parameter_count", "duration")
    STEP_COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_COUNT_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    step_count: int
    target_token_count: int
    sentence_pair_count: int
    parameter_count: int
    duration: _duration_pb2.Duration
    def __init__(self, step_count: _Optional[int] = ..., target_token_count: _Optional[int] = ..., sentence_pair_count: _Optional[int] = ..., parameter_count: _Optional[int] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Certificate(_message.Message):
    __slots__ = ("checks",)
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    checks: _containers.RepeatedCompositeFieldContainer[CertificateCheck]
    def __init__(self, checks: _Optional[_Iterable[_Union[CertificateCheck, _Mapping]]] = ...) -> None: ...

class CertificateCheck(_message.Message):
    __slots__ = ("name", "description", "value", "bound", "unit")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    value: float
    bound: float
    unit: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., value: _Optional[float] = ..., bound: _Optional[float] = ..., unit: _Optional[str] = ...) -> None: ...
