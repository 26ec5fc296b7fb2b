"""The HTTP side: ``/metrics`` for Prometheus, ``/healthz`` for probes that speak no gRPC."""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from socket import AF_INET, AF_INET6, SHUT_RD, socket
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from dragoman.server.errors import StartupError

Start = Callable[[str, list[tuple[str, str]]], object]
IDLE_SECONDS = 5.0
"""A client that sends no request for so long loses its connection."""


class MetricsEndpoint:
    """An HTTP server on a thread of its own, so that probes are heard whatever the loop does.

    Args:
        registry: what ``/metrics`` renders, in the Prometheus or the OpenMetrics text format.
        is_serving: what ``/healthz`` answers: 200 or 503.
    """

    def __init__(self, registry: CollectorRegistry, is_serving: Callable[[], bool]) -> None:
        self._metrics = make_wsgi_app(registry)
        self._is_serving = is_serving
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def start(self, host: str, port: int) -> int:
        """Listen on `host`:`port` (0: any free port) and return the port.

        Raises:
            StartupError: the address cannot be used.
        """
        kind = _ServerV6 if ":" in host else _Server
        try:
            self._server = kind((host, port), _Handler)
        except OSError as error:
            raise StartupError(f"cannot listen on {host}:{port} for metrics: {error}") from error
        self._server.set_app(self._answer)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="dragoman-metrics", daemon=True
        )
        self._thread.start()
        return int(self._server.server_address[1])

    def stop(self) -> None:
        """Stop listening and wait for the answers under way. Does nothing if not started."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = self._thread = None

    def _answer(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if path == "/metrics":
            return self._metrics(environ, start)  # type: ignore[no-any-return]
        if path == "/healthz":
            serving = self._is_serving()
            status = "200 OK" if serving else "503 Service Unavailable"
            return _plain(start, status, b"SERVING\n" if serving else b"NOT_SERVING\n")
        return _plain(start, "404 Not Found", b"There are /metrics and /healthz.\n")


def _plain(start: Start, status: str, body: bytes) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [body]


_Request = socket | tuple[bytes, socket]
_Address = tuple[str, int] | str | Any


class _Server(ThreadingMixIn, WSGIServer):
    address_family = AF_INET
    daemon_threads = False

    def __init__(self, address: tuple[str, int], handler: type[WSGIRequestHandler]) -> None:
        self._open: set[socket] = set()
        super().__init__(address, handler)

    def server_bind(self) -> None:
        # HTTPServer asks the resolver for a full host name here, which nobody needs.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()

    def process_request(self, request: _Request, client_address: _Address) -> None:
        if isinstance(request, socket):
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: _Request) -> None:
        if isinstance(request, socket):
            self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        for request in self._open.copy():
            with suppress(OSError):
                request.shutdown(SHUT_RD)  # an idle client must not hold up the process
        super().server_close()

    def handle_error(self, request: _Request, client_address: _Address) -> None:
        """Say nothing: a client that hangs up is no news either."""


class _ServerV6(_Server):
    address_family = AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = IDLE_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Say nothing: a scrape is no news."""
