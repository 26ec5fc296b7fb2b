"""The settings of the server: one class behind environment, TOML file and command line flags.

Flags win over the environment (``DRAGOMAN_PORT``), the environment over the file that ``--config``
or ``DRAGOMAN_CONFIG`` names (``port = 50051``), the file over the defaults below.
"""

import os
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from dragoman.engine.decoding import MAX_BEAM_SIZE
from dragoman.server.errors import ConfigurationError
from dragoman.v1.limits import DEFAULT_BEAM_SIZE, MAX_CONTENT_COUNT, MAX_MESSAGE_BYTES

MEBIBYTE = 1024 * 1024
ENVIRONMENT_PREFIX = "DRAGOMAN_"


class Config(BaseSettings):
    """Everything that can be set about one server process. Immutable.

    Raises:
        pydantic.ValidationError: a value is outside its bounds (use `Config.load` for one line).
    """

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, env_ignore_empty=True, frozen=True, extra="forbid"
    )

    config: Path | None = Field(default=None, description="TOML file with these settings.")

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=50051, ge=0, le=65535, description="gRPC port; 0 picks a free one.")
    metrics: bool = Field(
        default=True, description="Serve Prometheus metrics and /healthz over HTTP."
    )
    metrics_port: int = Field(
        default=9090, ge=0, le=65535, description="HTTP port; 0 picks a free one."
    )
    bundle: Path | None = Field(
        default=None,
        description="Directory of the model to serve; the built-in English-German by default.",
    )
    reflection: bool = Field(default=True, description="Answer gRPC server reflection.")

    tls_cert: Path | None = Field(default=None, description="PEM certificate chain; turns TLS on.")
    tls_key: Path | None = Field(default=None, description="PEM private key of the certificate.")
    tls_client_ca: Path | None = Field(
        default=None, description="PEM authorities of client certificates; turns mutual TLS on."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least level that is written to standard error."
    )
    log_format: Literal["json", "console"] = Field(
        default="json", description="Form of the log lines."
    )
    log_calls: bool = Field(default=True, description="Write one line for each call.")
    log_texts: bool = Field(
        default=False, description="Add the texts to these lines (private data!)."
    )

    max_rows: int = Field(
        default=32, ge=1, le=1024, description="Sentences decoded at the same time."
    )
    default_beam_size: int = Field(
        default=DEFAULT_BEAM_SIZE,
        ge=1,
        le=MAX_BEAM_SIZE,
        description="Beam size of requests that name none; at most max_rows counts.",
    )
    max_queued: int = Field(
        default=2048,
        ge=1,
        le=1_000_000,
        description="Lines in work or waiting; more: RESOURCE_EXHAUSTED.",
    )
    max_contents: int = Field(
        default=MAX_CONTENT_COUNT, ge=1, le=MAX_CONTENT_COUNT, description="Texts in one request."
    )
    max_lines: int = Field(
        default=1024,
        ge=1,
        le=1_000_000,
        description="Lines to translate in one request, over all texts.",
    )
    max_text_bytes: int = Field(
        default=256 * 1024, ge=1, le=64 * MEBIBYTE, description="UTF-8 bytes of one text."
    )
    max_message_bytes: int = Field(
        default=MAX_MESSAGE_BYTES,
        ge=1024,
        le=1024 * MEBIBYTE,
        description="Bytes of one gRPC message.",
    )
    default_deadline_seconds: float = Field(
        default=300.0, gt=0, le=86_400, description="Deadline of a call whose client sets none."
    )
    stream_interval_seconds: float = Field(
        default=0.005,
        ge=0,
        le=60,
        description="Least time between two pieces of a stream: faster tokens are sent together.",
    )
    decoder_workers: int | None = Field(
        default=None,
        ge=1,
        le=16,
        description="Running batches beside each other; by default 2, or 1 on a single core.",
    )
    decoder_threads: int | None = Field(
        default=None, ge=1, le=256, description="Threads of the decoder; by affinity and CPU quota."
    )
    encoder_threads: int | None = Field(
        default=None, ge=1, le=256, description="Threads of the encoder; by affinity and CPU quota."
    )
    source_cache_bytes: int = Field(
        default=32 * MEBIBYTE,
        ge=0,
        le=MEBIBYTE * MEBIBYTE,
        description="Bytes of encoded texts kept for calls with the same text; 0 keeps none.",
    )
    prefix_cache_bytes: int = Field(
        default=16 * MEBIBYTE,
        ge=0,
        le=MEBIBYTE * MEBIBYTE,
        description="Bytes of decoded beginnings kept for calls with such a prefix; 0 keeps none.",
    )

    settle_seconds: float = Field(
        default=1.0,
        ge=0,
        le=3600,
        description="After SIGTERM: serve on while balancers see NOT_SERVING.",
    )
    drain_grace_seconds: float = Field(
        default=30.0, ge=0, le=3600, description="After that: time for running calls to finish."
    )
    stall_seconds: float = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="Busy engine without a step for so long counts as failed.",
    )
    max_connection_age_seconds: float = Field(
        default=3600.0, ge=0, le=86_400, description="Connections are renewed after it; 0 never."
    )

    @classmethod
    def load(cls, **flags: object) -> Self:
        """Read all sources; `flags` that are None count as not given.

        Raises:
            ConfigurationError: names each wrong setting, its value and its bound, in one line.
        """
        try:
            return cls(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as error:
            raise ConfigurationError("; ".join(_problems(error))) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (named by the base class)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then environment, then the TOML file."""
        path = init_settings().get("config") or os.environ.get(f"{ENVIRONMENT_PREFIX}CONFIG")
        if not path:
            return init_settings, env_settings
        return init_settings, env_settings, _toml_source(settings_cls, Path(path))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key are given together or not at all")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise ValueError("tls_client_ca needs tls_cert and tls_key")
        if self.max_lines > self.max_queued:
            raise ValueError(
                f"max_lines ({self.max_lines}) must be at most max_queued ({self.max_queued}), "
                "or such a request could never be admitted"
            )
        return self

    @property
    def bundle_path(self) -> Path:
        """The bundle to serve: the one given, or the model inside the package."""
        return self.bundle if self.bundle is not None else default_bundle()


def default_bundle() -> Path:
    """Directory of the built-in English-German model."""
    return Path(str(files("dragoman.server"))) / "models" / "en-de"


def _toml_source(settings_cls: type[BaseSettings], path: Path) -> PydanticBaseSettingsSource:
    try:
        return TomlConfigSettingsSource(settings_cls, toml_file=path.resolve(strict=True))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"config: cannot read {path}: {error}") from error


def _problems(error: ValidationError) -> list[str]:
    problems = []
    for problem in error.errors():
        field = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        problems.append(f"{field}: {message}, got {problem['input']!r}" if field else message)
    return problems
