import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, Counter

from dragoman.server.endpoint import MetricsEndpoint
from dragoman.server.errors import StartupError


class Endpoint:
    def __init__(self) -> None:
        self.serving = True
        registry = CollectorRegistry()
        Counter("apples", "Apples.", registry=registry).inc(3)
        self.endpoint = MetricsEndpoint(registry, lambda: self.serving)
        self.port = self.endpoint.start("127.0.0.1", 0)

    def get(self, path: str, **headers: str) -> tuple[int, str, str]:
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Content-Type"], error.read().decode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.endpoint.stop()


def test_metrics_in_both_text_formats(endpoint: Endpoint) -> None:
    status, kind, body = endpoint.get("/metrics")
    assert status == 200
    assert kind.startswith("text/plain")
    assert "apples_total 3.0" in body
    status, kind, body = endpoint.get("/metrics", Accept="application/openmetrics-text")
    assert kind.startswith("application/openmetrics-text")
    assert body.endswith("# EOF\n")


def test_healthz_follows_the_server(endpoint: Endpoint) -> None:
    assert endpoint.get("/healthz")[::2] == (200, "SERVING\n")
    endpoint.serving = False
    assert endpoint.get("/healthz")[::2] == (503, "NOT_SERVING\n")


def test_other_paths_say_what_there_is(endpoint: Endpoint) -> None:
    status, _, body = endpoint.get("/")
    assert status == 404
    assert "/metrics" in body


def test_a_taken_port_is_named(endpoint: Endpoint) -> None:
    other = MetricsEndpoint(CollectorRegistry(), lambda: True)
    with pytest.raises(StartupError, match=f"127.0.0.1:{endpoint.port}"):
        other.start("127.0.0.1", endpoint.port)
    other.stop()


def test_an_idle_client_does_not_hold_up_the_end(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.server.endpoint._Handler.timeout", 3600)
    with socket.create_connection(("127.0.0.1", endpoint.port)) as idle:
        idle.sendall(b"GET /metrics HTTP/1.1\r\n")
        endpoint.get("/healthz")
        endpoint.endpoint.stop()
    endpoint.endpoint.stop()


def test_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return  # this machine has none
    endpoint = MetricsEndpoint(CollectorRegistry(), lambda: True)
    port = endpoint.start("::1", 0)
    try:
        with urllib.request.urlopen(f"http://[::1]:{port}/healthz", timeout=10) as answer:
            assert answer.status == 200
    finally:
        endpoint.stop()
