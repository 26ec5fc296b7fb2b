import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_EMPTY: _ClassVar[FinishReason]
    FINISH_REASON_DEADLINE: _ClassVar[FinishReason]

class TermMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TERM_MODE_UNSPECIFIED: _ClassVar[TermMode]
    TERM_MODE_HARD: _ClassVar[TermMode]
    TERM_MODE_SOFT: _ClassVar[TermMode]
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_EMPTY: FinishReason
FINISH_REASON_DEADLINE: FinishReason
TERM_MODE_UNSPECIFIED: TermMode
TERM_MODE_HARD: TermMode
TERM_MODE_SOFT: TermMode

class TranslateTextRequest(_message.Message):
    __slots__ = ("model", "contents", "source_language_code", "target_language_code", "decoding_options", "target_prefix")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    DECODING_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TARGET_PREFIX_FIELD_NUMBER: _ClassVar[int]
    model: str
    contents: _containers.RepeatedScalarFieldContainer[str]
    source_language_code: str
    target_language_code: str
    decoding_options: DecodingOptions
    target_prefix: TargetPrefix
    def __init__(self, model: _Optional[str] = ..., contents: _Optional[_Iterable[str]] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., decoding_options: _Optional[_Union[DecodingOptions, _Mapping]] = ..., target_prefix: _Optional[_Union[TargetPrefix, _Mapping]] = ...) -> None: ...

class TranslateTextResponse(_message.Message):
    __slots__ = ("translations", "model", "seed")
    TRANSLATIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    translations: _containers.RepeatedCompositeFieldContainer[Translation]
    model: str
    seed: int
    def __init__(self, translations: _Optional[_Iterable[_Union[Translation, _Mapping]]] = ..., model: _Optional[str] = ..., seed: _Optional[int] = ...) -> None: ...

class Translation(_message.Message):
    __slots__ = ("text", "log_probability", "finish_reason", "usage", "hypotheses", "term_results")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    HYPOTHESES_FIELD_NUMBER: _ClassVar[int]
    TERM_RESULTS_FIELD_NUMBER: _ClassVar[int]
    text: str
    log_probability: float
    finish_reason: FinishReason
    usage: Usage
    hypotheses: _containers.RepeatedCompositeFieldContainer[Hypothesis]
    term_results: _containers.RepeatedCompositeFieldContainer[TermResult]
    def __init__(self, text: _Optional[str] = ..., log_probability: _Optional[float] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., hypotheses: _Optional[_Iterable[_Union[Hypothesis, _Mapping]]] = ..., term_results: _Optional[_Iterable[_Union[TermResult, _Mapping]]] = ...) -> None: ...

class Hypothesis(_message.Message):
    __slots__ = ("text", "score", "log_probability", "finish_reason", "tokens", "term_results", "alignment")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TERM_RESULTS_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    text: str
    score: float
    log_probability: float
    finish_reason: FinishReason
    tokens: _containers.RepeatedCompositeFieldContainer[OutputToken]
    term_results: _containers.RepeatedCompositeFieldContainer[TermResult]
    alignment: Alignment
    def __init__(self, text: _Optional[str] = ..., score: _Optional[float] = ..., log_probability: _Optional[float] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., tokens: _Optional[_Iterable[_Union[OutputToken, _Mapping]]] = ..., term_results: _Optional[_Iterable[_Union[TermResult, _Mapping]]] = ..., alignment: _Optional[_Union[Alignment, _Mapping]] = ...) -> None: ...

class OutputToken(_message.Message):
    __slots__ = ("token_id", "piece", "text", "log_probability")
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    PIECE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    token_id: int
    piece: str
    text: str
    log_probability: float
    def __init__(self, token_id: _Optional[int] = ..., piece: _Optional[str] = ..., text: _Optional[str] = ..., log_probability: _Optional[float] = ...) -> None: ...

class Alignment(_message.Message):
    __slots__ = ("source_tokens", "attentions", "links")
    SOURCE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ATTENTIONS_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    source_tokens: _containers.RepeatedCompositeFieldContainer[SourceToken]
    attentions: _containers.RepeatedCompositeFieldContainer[Attention]
    links: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, source_tokens: _Optional[_Iterable[_Union[SourceToken, _Mapping]]] = ..., attentions: _Optional[_Iterable[_Union[Attention, _Mapping]]] = ..., links: _Optional[_Iterable[int]] = ...) -> None: ...

class SourceToken(_message.Message):
    __slots__ = ("token_id", "piece", "text")
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    PIECE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    token_id: int
    piece: str
    text: str
    def __init__(self, token_id: _Optional[int] = ..., piece: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Attention(_message.Message):
    __slots__ = ("weights",)
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    weights: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, weights: _Optional[_Iterable[float]] = ...) -> None: ...

class TermResult(_message.Message):
    __slots__ = ("source_line_count", "met_line_count")
    SOURCE_LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MET_LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    source_line_count: int
    met_line_count: int
    def __init__(self, source_line_count: _Optional[int] = ..., met_line_count: _Optional[int] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("source_token_count", "target_token_count", "queue_duration", "model_duration")
    SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_DURATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_DURATION_FIELD_NUMBER: _ClassVar[int]
    source_token_count: int
    target_token_count: int
    queue_duration: _duration_pb2.Duration
    model_duration: _duration_pb2.Duration
    def __init__(self, source_token_count: _Optional[int] = ..., target_token_count: _Optional[int] = ..., queue_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., model_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DecodingOptions(_message.Message):
    __slots__ = ("max_output_token_count", "min_output_token_count", "beam_size", "hypothesis_count", "length_penalty", "sampling", "repetition_penalty", "no_repeat_ngram_size", "suppressed_token_ids", "prefix_bias", "alternative_count", "terms", "finish_at_deadline", "include_token_scores", "include_alignment", "patience", "pruning_margin")
    MAX_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    BEAM_SIZE_FIELD_NUMBER: _ClassVar[int]
    HYPOTHESIS_COUNT_FIELD_NUMBER: _ClassVar[int]
    LENGTH_PENALTY_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    REPETITION_PENALTY_FIELD_NUMBER: _ClassVar[int]
    NO_REPEAT_NGRAM_SIZE_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    PREFIX_BIAS_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    FINISH_AT_DEADLINE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TOKEN_SCORES_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    PATIENCE_FIELD_NUMBER: _ClassVar[int]
    PRUNING_MARGIN_FIELD_NUMBER: _ClassVar[int]
    max_output_token_count: int
    min_output_token_count: int
    beam_size: int
    hypothesis_count: int
    length_penalty: float
    sampling: Sampling
    repetition_penalty: float
    no_repeat_ngram_size: int
    suppressed_token_ids: _containers.RepeatedScalarFieldContainer[int]
    prefix_bias: float
    alternative_count: int
    terms: _containers.RepeatedCompositeFieldContainer[Term]
    finish_at_deadline: bool
    include_token_scores: bool
    include_alignment: bool
    patience: float
    pruning_margin: float
    def __init__(self, max_output_token_count: _Optional[int] = ..., min_output_token_count: _Optional[int] = ..., beam_size: _Optional[int] = ..., hypothesis_count: _Optional[int] = ..., length_penalty: _Optional[float] = ..., sampling: _Optional[_Union[Sampling, _Mapping]] = ..., repetition_penalty: _Optional[float] = ..., no_repeat_ngram_size: _Optional[int] = ..., suppressed_token_ids: _Optional[_Iterable[int]] = ..., prefix_bias: _Optional[float] = ..., alternative_count: _Optional[int] = ..., terms: _Optional[_Iterable[_Union[Term, _Mapping]]] = ..., finish_at_deadline: _Optional[bool] = ..., include_token_scores: _Optional[bool] = ..., include_alignment: _Optional[bool] = ..., patience: _Optional[float] = ..., pruning_margin: _Optional[float] = ...) -> None: ...

class Sampling(_message.Message):
    __slots__ = ("temperature", "top_k", "top_p", "min_p", "sample_count", "seed")
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    MIN_P_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    sample_count: int
    seed: int
    def __init__(self, temperature: _Optional[float] = ..., top_k: _Optional[int] = ..., top_p: _Optional[float] = ..., min_p: _Optional[float] = ..., sample_count: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class Term(_message.Message):
    __slots__ = ("source", "targets", "mode", "bonus", "match_case")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    BONUS_FIELD_NUMBER: _ClassVar[int]
    MATCH_CASE_FIELD_NUMBER: _ClassVar[int]
    source: str
    targets: _containers.RepeatedScalarFieldContainer[str]
    mode: TermMode
    bonus: float
    match_case: bool
    def __init__(self, source: _Optional[str] = ..., targets: _Optional[_Iterable[str]] = ..., mode: _Optional[_Union[TermMode, str]] = ..., bonus: _Optional[float] = ..., match_case: _Optional[bool] = ...) -> None: ...

class StreamTranslateTextRequest(_message.Message):
    __slots__ = ("model", "content", "source_language_code", "target_language_code", "decoding_options", "target_prefix")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    DECODING_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TARGET_PREFIX_FIELD_NUMBER: _ClassVar[int]
    model: str
    content: str
    source_language_code: str
    target_language_code: str
    decoding_options: DecodingOptions
    target_prefix: TargetPrefix
    def __init__(self, model: _Optional[str] = ..., content: _Optional[str] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., decoding_options: _Optional[_Union[DecodingOptions, _Mapping]] = ..., target_prefix: _Optional[_Union[TargetPrefix, _Mapping]] = ...) -> None: ...

class StreamTranslateTextResponse(_message.Message):
    __slots__ = ("text_delta", "summary")
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    text_delta: str
    summary: TranslationSummary
    def __init__(self, text_delta: _Optional[str] = ..., summary: _Optional[_Union[TranslationSummary, _Mapping]] = ...) -> None: ...

class TranslationSummary(_message.Message):
    __slots__ = ("log_probability", "finish_reason", "usage", "model", "hypotheses", "term_results", "seed")
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    HYPOTHESES_FIELD_NUMBER: _ClassVar[int]
    TERM_RESULTS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    log_probability: float
    finish_reason: FinishReason
    usage: Usage
    model: str
    hypotheses: _containers.RepeatedCompositeFieldContainer[Hypothesis]
    term_results: _containers.RepeatedCompositeFieldContainer[TermResult]
    seed: int
    def __init__(self, log_probability: _Optional[float] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., model: _Optional[str] = ..., hypotheses: _Optional[_Iterable[_Union[Hypothesis, _Mapping]]] = ..., term_results: _Optional[_Iterable[_Union[TermResult, _Mapping]]] = ..., seed: _Optional[int] = ...) -> None: ...

class PredictNextTokenRequest(_message.Message):
    __slots__ = ("model", "text", "token_ids", "target_prefixes", "top_k", "queried_token_ids", "source_language_code", "target_language_code")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    TARGET_PREFIXES_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    QUERIED_TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    model: str
    text: str
    token_ids: TokenIds
    target_prefixes: _containers.RepeatedCompositeFieldContainer[TargetPrefix]
    top_k: int
    queried_token_ids: _containers.RepeatedScalarFieldContainer[int]
    source_language_code: str
    target_language_code: str
    def __init__(self, model: _Optional[str] = ..., text: _Optional[str] = ..., token_ids: _Optional[_Union[TokenIds, _Mapping]] = ..., target_prefixes: _Optional[_Iterable[_Union[TargetPrefix, _Mapping]]] = ..., top_k: _Optional[int] = ..., queried_token_ids: _Optional[_Iterable[int]] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ...) -> None: ...

class PredictNextTokenResponse(_message.Message):
    __slots__ = ("predictions", "model", "source_token_count")
    PREDICTIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    predictions: _containers.RepeatedCompositeFieldContainer[NextTokenPrediction]
    model: str
    source_token_count: int
    def __init__(self, predictions: _Optional[_Iterable[_Union[NextTokenPrediction, _Mapping]]] = ..., model: _Optional[str] = ..., source_token_count: _Optional[int] = ...) -> None: ...

class TargetPrefix(_message.Message):
    __slots__ = ("text", "token_ids")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    text: str
    token_ids: TokenIds
    def __init__(self, text: _Optional[str] = ..., token_ids: _Optional[_Union[TokenIds, _Mapping]] = ...) -> None: ...

class TokenIds(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ids: _Optional[_Iterable[int]] = ...) -> None: ...

class NextTokenPrediction(_message.Message):
    __slots__ = ("candidates", "queried_tokens", "entropy", "prefix_token_ids")
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    QUERIED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ENTROPY_FIELD_NUMBER: _ClassVar[int]
    PREFIX_TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[TokenCandidate]
    queried_tokens: _containers.RepeatedCompositeFieldContainer[QueriedToken]
    entropy: float
    prefix_token_ids: TokenIds
    def __init__(self, candidates: _Optional[_Iterable[_Union[TokenCandidate, _Mapping]]] = ..., queried_tokens: _Optional[_Iterable[_Union[QueriedToken, _Mapping]]] = ..., entropy: _Optional[float] = ..., prefix_token_ids: _Optional[_Union[TokenIds, _Mapping]] = ...) -> None: ...

class TokenCandidate(_message.Message):
    __slots__ = ("token_id", "piece", "text", "log_probability")
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    PIECE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    token_id: int
    piece: str
    text: str
    log_probability: float
    def __init__(self, token_id: _Optional[int] = ..., piece: _Optional[str] = ..., text: _Optional[str] = ..., log_probability: _Optional[float] = ...) -> None: ...

class QueriedToken(_message.Message):
    __slots__ = ("token_id", "piece", "text", "log_probability", "rank")
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    PIECE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    token_id: int
    piece: str
    text: str
    log_probability: float
    rank: int
    def __init__(self, token_id: _Optional[int] = ..., piece: _Optional[str] = ..., text: _Optional[str] = ..., log_probability: _Optional[float] = ..., rank: _Optional[int] = ...) -> None: ...

class ScoreTranslationRequest(_message.Message):
    __slots__ = ("model", "text", "token_ids", "translations", "include_alignment", "source_language_code", "target_language_code")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    TRANSLATIONS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    model: str
    text: str
    token_ids: TokenIds
    translations: _containers.RepeatedCompositeFieldContainer[GivenTranslation]
    include_alignment: bool
    source_language_code: str
    target_language_code: str
    def __init__(self, model: _Optional[str] = ..., text: _Optional[str] = ..., token_ids: _Optional[_Union[TokenIds, _Mapping]] = ..., translations: _Optional[_Iterable[_Union[GivenTranslation, _Mapping]]] = ..., include_alignment: _Optional[bool] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ...) -> None: ...

class GivenTranslation(_message.Message):
    __slots__ = ("text", "token_ids")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    text: str
    token_ids: TokenIds
    def __init__(self, text: _Optional[str] = ..., token_ids: _Optional[_Union[TokenIds, _Mapping]] = ...) -> None: ...

class ScoreTranslationResponse(_message.Message):
    __slots__ = ("scores", "model", "source_token_count")
    SCORES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    scores: _containers.RepeatedCompositeFieldContainer[TranslationScore]
    model: str
    source_token_count: int
    def __init__(self, scores: _Optional[_Iterable[_Union[TranslationScore, _Mapping]]] = ..., model: _Optional[str] = ..., source_token_count: _Optional[int] = ...) -> None: ...

class TranslationScore(_message.Message):
    __slots__ = ("log_probability", "tokens", "alignment")
    LOG_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    log_probability: float
    tokens: _containers.RepeatedCompositeFieldContainer[OutputToken]
    alignment: Alignment
    def __init__(self, log_probability: _Optional[float] = ..., tokens: _Optional[_Iterable[_Union[OutputToken, _Mapping]]] = ..., alignment: _Optional[_Union[Alignment, _Mapping]] = ...) -> None: ...
