"""Both clients and the command line against the real server with a trained model."""

from __future__ import annotations

import grpc
import pytest

from dragoman.client import (
    FinishReason,
    InvalidArgumentError,
    NotFoundError,
    ServingStatus,
    TokenIds,
    cli,
)
from tests.client.conftest import Stack, texts

ENGLISH = "four hundred twenty-one"
GERMAN = "vierhunderteinundzwanzig"


async def test_translate(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        one = await client.translate(ENGLISH)
        many = await client.translate([ENGLISH, "", f"  {ENGLISH}\n\n{ENGLISH}\n"])
    assert one.text == GERMAN
    assert one.finish_reason is FinishReason.STOP
    assert one.log_probability < 0
    assert one.target_token_count > 0
    assert [each.text for each in many] == [GERMAN, "", f"  {GERMAN}\n\n{GERMAN}\n"]
    assert many[0] == one
    assert many[1].finish_reason is FinishReason.EMPTY


async def test_a_stream_gives_what_a_call_gives(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        wanted = await client.translate(f"{ENGLISH}\n{ENGLISH}")
        stream = await client.stream(f"{ENGLISH}\n{ENGLISH}")
        received = await texts(stream)
    assert "".join(received) == wanted.text
    assert len(received) > 1
    assert stream.result == wanted


async def test_next_token(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        first = await client.next_token(ENGLISH, top_k=3)
        ids = (first.candidates[0].token_id,)
        after, again = await client.next_token(ENGLISH, ["", TokenIds(ids)], 2, queried=ids)
    assert [candidate.token_id for candidate in after.candidates] == [
        candidate.token_id for candidate in first.candidates[:2]
    ]
    assert (after.queried[0].rank, after.queried[0].token_id) == (1, ids[0])
    assert after.queried[0].log_probability == first.candidates[0].log_probability
    assert again.prefix_token_ids == ids
    assert again.entropy >= 0


async def test_models_and_health(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        (model,) = await client.models()
        assert await client.model(model.name) == await client.model() == model
        assert await client.health() is ServingStatus.SERVING
        assert await client.health("dragoman.v1.TranslationService") is ServingStatus.SERVING
        with pytest.raises(NotFoundError) as caught:
            await client.translate(ENGLISH, model="models/none")
    assert model.source_language_code == "en"
    assert model.vocabulary_size > 4
    assert len(model.sha256) == 64
    assert caught.value.reason == "MODEL_NOT_FOUND"


async def test_refusals(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        with pytest.raises(InvalidArgumentError) as long:
            await client.translate(["one", "one " * 500])
        with pytest.raises(InvalidArgumentError) as greedy:
            await client.next_token(ENGLISH, top_k=0)
        with pytest.raises(InvalidArgumentError) as endless:
            await client.translate(ENGLISH, max_output_tokens=10**9)
        with pytest.raises(InvalidArgumentError) as foreign:
            await texts(await client.stream(ENGLISH, target_language_code="fr"))
    assert long.value.field.startswith("contents[1]")
    assert greedy.value.field == "top_k"
    assert endless.value.field == "decoding_options.max_output_token_count"
    assert foreign.value.field == "target_language_code"
    assert long.value.code is grpc.StatusCode.INVALID_ARGUMENT


def test_the_command_line(real: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["translate", "--address", real, ENGLISH]) == 0
    assert cli.main(["translate", "--address", real, "--stream", ENGLISH]) == 0
    assert cli.main(["health", "--address", real]) == 0
    assert cli.main(["models", "--address", real]) == 0
    assert cli.main(["next", "--address", real, ENGLISH]) == 0
    output, errors = capfd.readouterr()
    assert output.startswith(f"{GERMAN}\n{GERMAN}\nserving\n")
    assert errors == ""
