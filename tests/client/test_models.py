"""`models`, `model` and `health`."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from dragoman.client import (
    Architecture,
    CertificateCheck,
    DataOrigin,
    Model,
    NotFoundError,
    ProtocolError,
    ServingStatus,
    Training,
    UnimplementedError,
)
from dragoman.v1 import model_pb2
from tests.client.backend import Models, Shouting, healthy, served
from tests.client.conftest import Stack

MESSAGE = model_pb2.Model(
    name="models/full",
    display_name="Full",
    source_language_code="en",
    target_language_code="de",
    precision=model_pb2.PRECISION_INT8,
    architecture=model_pb2.Architecture(
        model_width=256,
        head_count=8,
        feed_forward_width=1024,
        encoder_layer_count=4,
        decoder_layer_count=2,
        normalization=model_pb2.NORMALIZATION_PRE,
    ),
    limits=model_pb2.ModelLimits(max_source_token_count=250, max_target_token_count=260),
    vocabulary_size=8000,
    license="CC-BY-4.0",
    data_origins=[
        model_pb2.DataOrigin(
            name="a", license="MIT", uri="https://a.example", sentence_pair_count=0
        ),
        model_pb2.DataOrigin(name="b"),
    ],
    training=model_pb2.Training(
        step_count=0,
        target_token_count=10**12,
        sentence_pair_count=3,
        parameter_count=4,
        duration=Duration(seconds=90, nanos=500_000_000),
    ),
    certificate=model_pb2.Certificate(
        checks=[
            model_pb2.CertificateCheck(
                name="stepped", description="ONNX and PyTorch", value=1e-5, bound=1e-4, unit="nats"
            ),
            model_pb2.CertificateCheck(name="size", value=9),
        ]
    ),
    format_version=1,
    sha256="ab" * 32,
)
FULL = Model(
    name="models/full",
    display_name="Full",
    source_language_code="en",
    target_language_code="de",
    precision="int8",
    architecture=Architecture(
        model_width=256,
        head_count=8,
        feed_forward_width=1024,
        encoder_layer_count=4,
        decoder_layer_count=2,
        normalization="pre",
    ),
    max_source_token_count=250,
    max_target_token_count=260,
    vocabulary_size=8000,
    license="CC-BY-4.0",
    data_origins=(
        DataOrigin(name="a", license="MIT", uri="https://a.example", sentence_pair_count=0),
        DataOrigin(name="b", license="", uri="", sentence_pair_count=None),
    ),
    training=Training(
        step_count=0,
        target_token_count=10**12,
        sentence_pair_count=3,
        parameter_count=4,
        seconds=90.5,
    ),
    certificate=(
        CertificateCheck(
            name="stepped", description="ONNX and PyTorch", value=1e-5, bound=1e-4, unit="nats"
        ),
        CertificateCheck(name="size", description="", value=9, bound=None, unit=""),
    ),
    format_version=1,
    sha256="ab" * 32,
)


def models(count: int) -> Models:
    return Models([model_pb2.Model(name=f"models/{index}") for index in range(count)])


async def test_everything_about_a_model(stack: Stack) -> None:
    with served(Models([MESSAGE])) as address:
        async with stack.client(address) as client:
            assert await client.model("models/full") == FULL
            assert await client.models() == [FULL]


async def test_what_a_bundle_does_not_say(stack: Stack) -> None:
    with served(models(1)) as address:
        async with stack.client(address) as client:
            model = await client.model("models/0")
    assert model.training is None
    assert model.certificate == ()
    assert (model.precision, model.architecture.normalization) == ("unknown", "unknown")


async def test_training_facts_that_are_not_known(stack: Stack) -> None:
    message = model_pb2.Model(name="models/x", training=model_pb2.Training(step_count=5))
    with served(Models([message])) as address:
        async with stack.client(address) as client:
            assert (await client.model("")).training == Training(
                step_count=5,
                target_token_count=None,
                sentence_pair_count=None,
                parameter_count=None,
                seconds=None,
            )


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
async def test_all_pages_are_read(stack: Stack, count: int) -> None:
    servicer = models(count)
    with served(servicer) as address:
        async with stack.client(address) as client:
            listed = await client.models()
    assert [model.name for model in listed] == [f"models/{index}" for index in range(count)]
    assert len(servicer.requests) == max(1, (count + 1) // 2)


class Circling(Models):
    """Never comes to an end."""

    def ListModels(self, request: Any, context: Any) -> model_pb2.ListModelsResponse:
        return model_pb2.ListModelsResponse(models=self.models, next_page_token="2")


async def test_a_listing_without_end_is_an_error(stack: Stack) -> None:
    with served(Circling([MESSAGE])) as address:
        async with stack.client(address) as client:
            with pytest.raises(ProtocolError, match="twice"):
                await client.models()


async def test_which_model_is_asked_for(stack: Stack) -> None:
    servicer = models(3)
    with served(servicer) as address:
        async with stack.client(address) as client:
            assert (await client.model()).name == "models/0"
        async with stack.client(address, model="models/2") as client:
            assert (await client.model()).name == "models/2"
            assert (await client.model("models/1")).name == "models/1"
            assert (await client.model("")).name == "models/0"
    assert [request.name for request in servicer.requests] == [
        "",
        "models/2",
        "models/1",
        "",
    ]


async def test_an_unknown_model(stack: Stack) -> None:
    with served(models(1)) as address:
        async with stack.client(address) as client:
            with pytest.raises(NotFoundError, match="no models/none") as caught:
                await client.model("models/none")
            with pytest.raises(TypeError):
                await client.model(5)
            with pytest.raises(TypeError):
                await client.model("models/0", prefix="x")
    assert caught.value.code is grpc.StatusCode.NOT_FOUND
    assert caught.value.reason == "MODEL_NOT_FOUND"


async def test_health(stack: Stack) -> None:
    with served(healthy()) as address:
        async with stack.client(address) as client:
            assert await client.health() is ServingStatus.SERVING
            assert await client.health("resting") is ServingStatus.NOT_SERVING
            with pytest.raises(NotFoundError):
                await client.health("nothing")
            with pytest.raises(TypeError):
                await client.health(None)


async def test_a_server_without_the_services(stack: Stack) -> None:
    with served() as address:
        async with stack.client(address) as client:
            for call in (client.models(), client.health(), client.translate("x")):
                with pytest.raises(UnimplementedError):
                    await call


async def test_metadata_reaches_every_method(stack: Stack, shouting: Shouting) -> None:
    with served(shouting) as address:
        async with stack.client(
            address, metadata={"Authorization": "Bearer x", "trace-bin": b"\x00\xff"}
        ) as client:
            await client.translate("x", metadata={"request": "7"})
            sent = shouting.metadata
            assert (sent["authorization"], sent["trace-bin"], sent["request"]) == (
                "Bearer x",
                b"\x00\xff",
                "7",
            )
            assert str(sent["user-agent"]).startswith("dragoman-python/")
            await client.next_token("x")
            assert "request" not in shouting.metadata
            assert shouting.metadata["authorization"] == "Bearer x"
