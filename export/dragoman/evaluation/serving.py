"""A server of one's own for the time of an evaluation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from dragoman.evaluation.errors import EvaluationError

START_SECONDS: Final = 120.0
"""Time that a server may take to load its bundle."""

STOP_SECONDS: Final = 30.0

_FLAGS: Final = ("--port", "0", "--no-metrics", "--no-log-calls", "--settle-seconds", "0")
_HOST: Final = "127.0.0.1"


@contextmanager
def serving(bundle: Path, flags: Sequence[str] = ()) -> Iterator[str]:
    """Serve a bundle on a free loopback port, in a process of its own, until the block ends.

    Settings of the environment do not apply to it.

    Yields:
        Its address.

    Raises:
        EvaluationError: it does not start; the message is the server's.
    """
    command = [sys.executable, "-m", "dragoman.server", "--host", _HOST, "--bundle", str(bundle)]
    settings = ["--log-format", "json", "--log-level", "info", *_FLAGS, *flags]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("DRAGOMAN_")}
    with (
        _ended_by_sigterm(),
        subprocess.Popen(  # noqa: S603 - this interpreter, a path that the caller names
            [*command, *settings],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=clean,
        ) as process,
    ):
        assert process.stderr is not None
        log = _Log(process.stderr)
        try:
            yield f"{_HOST}:{log.wait_for_port()}"
        finally:
            _stop(process)
            log.join()


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does; it would leave the server behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Log(threading.Thread):
    """Reads a server's log to its end, so that the server never waits for a reader."""

    def __init__(self, lines: IO[str]) -> None:
        super().__init__(name="server-log", daemon=True)
        self._lines = lines
        self._told = threading.Event()
        self._port: int | None = None
        self._is_serving = False
        self._last = "it said nothing"
        self.start()

    def run(self) -> None:
        for line in self._lines:
            if line.strip():
                self._last = line.strip()
            event = _event(line)
            if event.get("event") == "listening":
                self._port = event["port"]
            elif event.get("event") == "serving":
                self._is_serving = True
                self._told.set()
        self._told.set()

    def wait_for_port(self) -> int:
        """The port, once calls are answered there."""
        self._told.wait(START_SECONDS)
        if not self._is_serving or self._port is None:
            raise EvaluationError(f"no server: {self._last.removeprefix('dragoman serve: ')}")
        return self._port


def _event(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
