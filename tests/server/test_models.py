import pytest

from dragoman.v1 import model_pb2
from tests.server.harness import DEADLINE, Hosted, failure


def listing(server: Hosted, **fields: object) -> model_pb2.ListModelsResponse:
    request = model_pb2.ListModelsRequest(**fields)  # type: ignore[arg-type]
    return server.models.ListModels(request, timeout=DEADLINE)


@pytest.mark.parametrize("size", [0, 1, 50, 10_000])
def test_the_list_has_the_one_model(server: Hosted, size: int) -> None:
    response = listing(server, page_size=size)
    assert list(response.models) == [server.model()]
    assert response.next_page_token == ""


def test_the_model_by_name(server: Hosted) -> None:
    model = server.model()
    request = model_pb2.GetModelRequest(name=model.name)
    assert server.models.GetModel(request, timeout=DEADLINE).model == model
    assert model.license
    assert len(model.sha256) == 64


def test_another_model_is_not_found(server: Hosted) -> None:
    request = model_pb2.GetModelRequest(name="models/other")
    refused = failure(lambda: server.models.GetModel(request, timeout=DEADLINE))
    assert (refused.code, refused.reason) == ("NOT_FOUND", "MODEL_NOT_FOUND")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"page_size": -1}, "page_size"),
        ({"page_token": "1"}, "page_token"),
        ({"page_token": "x" * 100}, "page_token"),
        ({"page_token": "²"}, "page_token"),
    ],
)
def test_bad_pages_are_refused(server: Hosted, fields: dict[str, object], field: str) -> None:
    refused = failure(lambda: listing(server, **fields))
    assert refused.code == "INVALID_ARGUMENT"
    assert refused.violations[0][0] == field
