"""Structured logs: one JSON object a line on standard error, or coloured text for people."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from dragoman.server.config import Config

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def build_logger(config: Config, stream: TextIO | None = None) -> FilteringBoundLogger:
    """A logger of its own for one server; nothing global is touched.

    Args:
        config: says the least level and the form.
        stream: where to write; standard error by default.
    """
    output = stream if stream is not None else sys.stderr
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(output),
        processors=_processors(config, colors=output.isatty()),
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[config.log_level]),
        cache_logger_on_first_use=True,
    )
    return logger.bind()


@contextmanager
def forwarding(logger: FilteringBoundLogger) -> Iterator[None]:
    """Bring warnings of the standard library's loggers (gRPC's above all) into ours."""
    root, handler = logging.getLogger(), _ForwardingHandler(logger)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


class _ForwardingHandler(logging.Handler):
    def __init__(self, logger: FilteringBoundLogger) -> None:
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        write = self._logger.error if record.levelno >= logging.ERROR else self._logger.warning
        write(
            "library",
            logger=record.name,
            message=record.getMessage(),
            exc_info=record.exc_info,
        )


def _processors(config: Config, *, colors: bool) -> list[Processor]:
    first: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if config.log_format == "console":
        return [*first, structlog.dev.ConsoleRenderer(colors=colors)]
    return [
        *first,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),  # in ASCII: a line stays a line for every reader
    ]
