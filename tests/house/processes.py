"""A real ``dragoman serve`` in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server
from urllib.error import URLError
from urllib.request import urlopen

SCRIPTS = Path(sys.executable).parent
START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Serving:
    """Where a running server listens."""

    address: str
    metrics_url: str


@contextmanager
def serving(*flags: str, cwd: Path | None = None) -> Iterator[Serving]:
    """Run a server on free ports until the block ends; it must then end with status 0."""
    port, metrics_port = free_ports(2)
    command = [str(SCRIPTS / "dragoman"), "serve", "--settle-seconds", "0", *flags]
    ports = ["--port", str(port), "--metrics-port", str(metrics_port)]
    with subprocess.Popen(
        [*command, *ports],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        where = Serving(f"127.0.0.1:{port}", f"http://127.0.0.1:{metrics_port}")
        try:
            _wait(process, f"{where.metrics_url}/healthz")
            yield where
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait()
    assert status == 0


def environment(**more: str) -> dict[str, str]:
    """This process's own, but without settings of a server and of the make that may run us."""
    foreign = ("DRAGOMAN_", "MAKE", "MFLAGS", "ARGS", "CONFIG")
    own = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return {**own, **more}


def free_ports(count: int) -> list[int]:
    """Different TCP ports of the loopback interface that nobody listens on now."""
    listeners = [create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [listener.getsockname()[1] for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(url) as response:
                assert response.status == 200
            return
        except URLError:
            time.sleep(0.05)
    raise AssertionError(f"the server is not up: status {process.poll()}")
