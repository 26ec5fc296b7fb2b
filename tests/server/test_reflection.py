from pathlib import Path
from typing import Any

from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.server.harness import DEADLINE, Hosted, config, failure, hosted


def services(server: Hosted) -> set[str]:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(server.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = stub.ServerReflectionInfo(iter([request]), timeout=DEADLINE)
    return {service.name for service in answer.list_services_response.service}


def test_reflection_lists_all_services(server: Hosted) -> None:
    assert services(server) == {
        "dragoman.v1.TranslationService",
        "dragoman.v1.ModelService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


def test_a_flag_turns_it_off(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, reflection=False)) as server:
        refused = failure(lambda: services(server))
        assert (refused.code, refused.reason) == ("UNIMPLEMENTED", "METHOD_NOT_FOUND")
        assert server.text("one") == "eins"
        server.assert_at_rest()
