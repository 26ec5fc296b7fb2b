"""Structured logs: one JSON object a line on standard error, or coloured text for people."""

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO, cast

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from dragoman.server.config import Config

BUFFER_SECONDS = 0.05
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Stream(Protocol):
    """What a logger needs of a stream."""

    def write(self, text: str, /) -> int: ...
    def flush(self) -> None: ...
    def isatty(self) -> bool: ...


def build_logger(config: Config, stream: Stream | None = None) -> FilteringBoundLogger:
    """A logger of its own for one server; nothing global is touched.

    Args:
        config: says the least level and the form.
        stream: where to write; standard error by default.
    """
    output = stream if stream is not None else sys.stderr
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(cast(TextIO, output)),
        processors=_processors(config, colors=output.isatty()),
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[config.log_level]),
        cache_logger_on_first_use=True,
    )
    return logger.bind()


class LineBuffer:
    """A stream that writes what an event loop logs together, a moment later.

    A write for each call costs more than all else about its line. What other threads write goes
    out at once. `drain` writes the rest; it must be called at the end.

    Args:
        stream: where the lines end up.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: list[str] = []
        self._is_due = False
        self.isatty = stream.isatty

    def write(self, text: str) -> int:
        """Keep a line."""
        self._lines.append(text)
        return len(text)

    def flush(self) -> None:
        """Write the lines within `BUFFER_SECONDS`, or now where no event loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.drain()
            return
        if not self._is_due:
            self._is_due = True
            loop.call_later(BUFFER_SECONDS, self.drain)

    def drain(self) -> None:
        """Write the lines now."""
        self._is_due = False
        lines, self._lines = self._lines, []
        self._stream.write("".join(lines))
        self._stream.flush()


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
        structlog.processors.MaybeTimeStamper(fmt="iso", utc=True),
    ]
    if config.log_format == "console":
        return [*first, structlog.dev.ConsoleRenderer(colors=colors)]
    return [
        *first,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),  # in ASCII: a line stays a line for every reader
    ]
