import threading
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from dragoman.engine import Engine
from tests.server.harness import (
    DEADLINE,
    Hosted,
    config,
    eventually,
    failure,
    hosted,
)

SERVICES = ["", "dragoman.v1.TranslationService", "dragoman.v1.ModelService"]
Status = health_pb2.HealthCheckResponse


@pytest.mark.parametrize("service", SERVICES)
def test_the_server_and_each_service_are_serving(server: Hosted, service: str) -> None:
    assert server.status(service) == "SERVING"


def test_a_strange_service_is_not_found(server: Hosted) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        server.status("some.Service")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_the_list_has_all(server: Hosted) -> None:
    response = server.health.List(health_pb2.HealthListRequest(), timeout=DEADLINE)
    assert set(response.statuses) == set(SERVICES)


def test_a_watch_says_the_status_now_and_ends_when_the_client_leaves(server: Hosted) -> None:
    watch = server.health.Watch(health_pb2.HealthCheckRequest(), timeout=DEADLINE)
    assert next(watch).status == Status.SERVING
    unknown = server.health.Watch(
        health_pb2.HealthCheckRequest(service="some.Service"), timeout=DEADLINE
    )
    assert next(unknown).status == Status.SERVICE_UNKNOWN
    watch.cancel()
    unknown.cancel()


def test_watches_end_with_the_server(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle)) as server:
        watch = server.health.Watch(health_pb2.HealthCheckRequest(), timeout=DEADLINE)
        assert next(watch).status == Status.SERVING
        server.call(server.server.shutdown())
        assert [answer.status for answer in watch] == [Status.NOT_SERVING]


def test_nothing_is_served_before_the_model_is_warm(tiny_bundle: Path) -> None:
    loading, go_on = threading.Event(), threading.Event()

    def slow(*args: Any) -> Engine:
        loading.set()
        assert go_on.wait(DEADLINE)
        return Engine.load(*args)

    def probe() -> None:
        assert loading.wait(DEADLINE)
        try:
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                check: Any = channel.unary_unary(
                    "/grpc.health.v1.Health/Check", response_deserializer=Status.FromString
                )
                answers.append(check(b"", timeout=DEADLINE).status)
                for method in ("TranslationService/TranslateText", "ModelService/GetModel"):
                    call: Any = channel.unary_unary(f"/dragoman.v1.{method}")
                    refusals.append(failure(partial(call, b"", timeout=DEADLINE)))
        finally:
            go_on.set()

    answers: list[int] = []
    refusals: list[Any] = []
    port = _free_port()
    prober = threading.Thread(target=probe)
    prober.start()
    with hosted(config(tiny_bundle, port=port), slow) as server:
        prober.join()
        assert server.status() == "SERVING"
    assert answers == [Status.NOT_SERVING]
    assert [refused.reason for refused in refusals] == ["NOT_READY", "NOT_READY"]
    assert {refused.code for refused in refusals} == {"UNAVAILABLE"}
    assert all(refused.retry_seconds for refused in refusals)


def test_healthz_agrees(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle)) as server:
        assert eventually(lambda: server.metric("dragoman_serving") == 1)
        server.call(server.server._health.set(serving=False))
        assert server.metric("dragoman_serving") == 0


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
