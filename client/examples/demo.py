"""The whole line in half a minute: a server, three kinds of calls, its metrics.

``make demo`` runs it; it needs the extra ``server``.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server
from tempfile import TemporaryFile

from dragoman.client import Client

SENTENCES = (
    "Open the file in a new window.",
    "The package contains the documentation and a few examples.",
    "You do not have permission to delete this folder.",
    "If the connection is lost, the server tries again after 5 seconds.",
)
PREFIXES = ("", "Öffnen ", "Öffnen Sie ")
SHOWN_METRICS = (
    "grpc_server_handled_total",
    "dragoman_source_tokens_total",
    "dragoman_target_tokens_total",
    "dragoman_time_to_first_token_seconds_sum",
    "dragoman_time_to_first_token_seconds_count",
    "process_resident_memory_bytes",
)
START_SECONDS = 60.0


def main() -> None:
    """Start a server, speak to it, stop it."""
    with running_server() as (port, metrics_port), Client(f"127.0.0.1:{port}") as client:
        show_models(client)
        show_translations(client)
        show_stream(client)
        show_next_tokens(client)
        show_metrics(metrics_port)
    print("\nThe server finished its work and stopped.")


def show_models(client: Client) -> None:
    """Which models the server has."""
    for model in client.models():
        print(f"  {model.name}: {model.source_language_code} -> {model.target_language_code}")


def show_translations(client: Client) -> None:
    """Several texts in one call; they share the running batch."""
    headline("translate")
    begun = time.perf_counter()
    translations = client.translate(list(SENTENCES))
    elapsed = time.perf_counter() - begun
    for text, translation in zip(SENTENCES, translations, strict=True):
        print(f"  {text}\n    {translation.text}   (log p {translation.log_probability:.2f})")
    print(f"  {len(SENTENCES)} texts in {elapsed * 1000:.0f} ms")


def show_stream(client: Client) -> None:
    """The same text piece by piece, as the decoder commits it."""
    headline("stream")
    print("  ", end="")
    for chunk in client.stream(SENTENCES[-1]):
        print(chunk.text, end="|", flush=True)
    print()


def show_next_tokens(client: Client) -> None:
    """What the model would say next, given a source and the beginning of its translation."""
    headline(f"next token of {SENTENCES[0]!r}")
    for prefix in PREFIXES:
        candidates = client.next_token(SENTENCES[0], prefix=prefix, top_k=4).candidates
        row = (f"{c.text or c.piece!r:>12} {math.exp(c.log_probability):5.1%}" for c in candidates)
        print(f"  {prefix + '...':<16}", *row)


def show_metrics(port: int) -> None:
    """A few lines of what Prometheus reads."""
    headline(f"http://127.0.0.1:{port}/metrics")
    _, text = get(port, "/metrics")
    for line in text.splitlines():
        if line.startswith(SHOWN_METRICS) and not line.endswith(" 0.0"):
            print(f"  {line}")


def headline(title: str) -> None:
    """Begin a section of the output."""
    print(f"\n{title}")


@contextmanager
def running_server() -> Iterator[tuple[int, int]]:
    """Run ``dragoman serve`` with the default model; give its gRPC and its metrics port."""
    port, metrics_port = free_port(), free_port()
    command = [str(Path(sys.executable).with_name("dragoman")), "serve", "--host=127.0.0.1"]
    with TemporaryFile("w+") as log:
        begun = time.perf_counter()
        server = subprocess.Popen(
            [*command, f"--port={port}", f"--metrics-port={metrics_port}"], stderr=log
        )
        try:
            wait_until_serving(server, metrics_port)
            print(f"Serving on 127.0.0.1:{port} after {time.perf_counter() - begun:.1f} s")
            yield port, metrics_port
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read())
            raise
        finally:
            server.terminate()
            server.wait()
    if server.returncode != 0:
        raise SystemExit(f"the server ended with status {server.returncode}")


def wait_until_serving(server: subprocess.Popen[bytes], metrics_port: int) -> None:
    """Return when ``/healthz`` says SERVING; give up when the server ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if get(metrics_port, "/healthz")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit("the server did not start; its log is above")


def get(port: int, path: str) -> tuple[int, str]:
    """Status and body of an HTTP GET on the loopback interface."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def free_port() -> int:
    """A TCP port of the loopback interface that nobody listens on now."""
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
