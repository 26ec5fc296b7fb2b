"""`translate`: one text or several, and what is refused before anything is sent."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.client import (
    Client,
    FinishReason,
    InvalidArgumentError,
    ProtocolError,
    TokenIds,
    Translation,
)
from dragoman.client import _requests as requests
from dragoman.v1 import translation_pb2
from tests.client.backend import MODEL, Shouting, served
from tests.client.conftest import Stack


async def test_one_text_gives_one_translation(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        translation = await client.translate("one.")
    assert translation == Translation(
        text="ONE.",
        log_probability=-1.5,
        finish_reason=FinishReason.STOP,
        source_token_count=5,
        target_token_count=4,
        model=MODEL,
    )
    assert (translation.queue_seconds, translation.model_seconds) == (0.5, 2.0)


@pytest.mark.parametrize("kind", [list, tuple])
async def test_several_texts_give_as_many_in_order(stack: Stack, address: str, kind: type) -> None:
    async with stack.client(address) as client:
        translations = await client.translate(kind(["one.", 'say "two"', "“three”", "", "é\n ß "]))
    assert [translation.text for translation in translations] == [
        "ONE.",
        'SAY "TWO"',
        "“THREE”",
        "",
        "É\n SS ",
    ]


async def test_a_list_of_one_stays_a_list(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        assert [each.text for each in await client.translate(["one."])] == ["ONE."]


async def test_no_texts_make_no_call(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address) as client:
        assert await client.translate([]) == []
        assert await client.translate(()) == []
    assert shouting.requests == []


async def test_an_empty_text_is_sent(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address) as client:
        assert (await client.translate("")).text == ""
    assert list(shouting.requests[0].contents) == [""]


@pytest.mark.parametrize(
    "wrong", [None, 7, b"one.", {"a": "b"}, {"a"}, iter(["one."]), TokenIds((1,)), object()]
)
async def test_other_types_are_type_errors(
    stack: Stack, address: str, shouting: Shouting, wrong: Any
) -> None:
    async with stack.client(address) as client:
        with pytest.raises(TypeError, match=r"text must be a str, or a list of them, not"):
            await client.translate(wrong)
        with pytest.raises(TypeError, match=r"contents\[1\] must be a str, not"):
            await client.translate(["one.", wrong])
    assert shouting.requests == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"model": None}, "model"),
        ({"source_language_code": 1}, "source_language_code"),
        ({"target_language_code": b"de"}, "target_language_code"),
        ({"prefix": 3}, "target_prefix"),
        ({"prefix": None}, "target_prefix"),
        ({"prefix": [1]}, "target_prefix"),
        ({"prefix": TokenIds(("a",))}, r"target_prefix.token_ids.ids\[0\]"),  # type: ignore[arg-type]
        ({"prefix": TokenIds(5)}, "target_prefix.token_ids.ids"),  # type: ignore[arg-type]
        ({"max_output_tokens": 1.5}, "decoding_options.max_output_token_count"),
        ({"max_output_tokens": True}, "decoding_options.max_output_token_count"),
        ({"timeout": "5"}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"metadata": [("a", "b")]}, "metadata"),
        ({"beam": 4}, "unexpected keyword argument 'beam'"),
    ],
)
async def test_wrong_options_are_type_errors(
    stack: Stack, address: str, shouting: Shouting, options: dict[str, Any], field: str
) -> None:
    async with stack.client(address) as client:
        with pytest.raises(TypeError, match=field):
            await client.translate("one.", **options)
        with pytest.raises(TypeError, match=field):
            await client.stream("one.", **options)
    assert shouting.requests == []


async def test_lone_surrogates_are_refused_before_sending(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    async with stack.client(address) as client:
        with pytest.raises(InvalidArgumentError) as caught:
            await client.translate(["fine", "bad \ud800 char"])
        with pytest.raises(InvalidArgumentError, match=r"^content: lone surrogate U\+DFFF"):
            await client.stream("\udfff")
        with pytest.raises(InvalidArgumentError, match=r"^target_prefix\.text: "):
            await client.translate("x", prefix="\ud800")
        with pytest.raises(InvalidArgumentError, match="model"):
            await client.translate("x", model="models/\ud800")
    assert str(caught.value) == "contents[1]: lone surrogate U+D800 at index 4"
    assert caught.value.field == "contents[1]"
    assert caught.value.description == "lone surrogate U+D800 at index 4"
    assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, UnicodeError)
    assert shouting.requests == []


@given(st.text(st.characters(codec=None)))
def test_any_text_is_sent_as_it_is_or_refused(text: str) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        with pytest.raises(InvalidArgumentError, match=r"^contents\[0\]: lone surrogate"):
            requests.translate([text], model="")
    else:
        assert list(requests.translate([text], model="").contents) == [text]


async def test_options_are_sent(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address, model="models/mine") as client:
        await client.translate(
            "x",
            prefix="Das ",
            max_output_tokens=9,
            source_language_code="en",
            target_language_code="de",
        )
        await client.translate("x", prefix=TokenIds((4, 5)), model="models/other")
        await client.translate("x")
        await client.translate("x", prefix=TokenIds(()), model="")
    texts, ids, plain, empty = shouting.requests
    assert texts == translation_pb2.TranslateTextRequest(
        model="models/mine",
        contents=["x"],
        source_language_code="en",
        target_language_code="de",
        decoding_options=translation_pb2.DecodingOptions(max_output_token_count=9),
        target_prefix=translation_pb2.TargetPrefix(text="Das "),
    )
    assert ids.model == "models/other"
    assert list(ids.target_prefix.token_ids.ids) == [4, 5]
    assert plain == translation_pb2.TranslateTextRequest(model="models/mine", contents=["x"])
    assert empty.model == ""
    assert empty.target_prefix.WhichOneof("prefix") == "token_ids"


async def test_zero_tokens_are_sent_and_not_taken_for_none(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    async with stack.client(address) as client:
        await client.translate("x", max_output_tokens=0)
    assert shouting.requests[0].decoding_options.HasField("max_output_token_count")


@pytest.mark.parametrize("count", [2**31, -(2**31) - 1, 10**30])
async def test_numbers_that_the_wire_cannot_carry(stack: Stack, address: str, count: int) -> None:
    async with stack.client(address) as client:
        with pytest.raises(InvalidArgumentError, match=f"{count} is no 32-bit integer"):
            await client.translate("x", max_output_tokens=count)


class Miscounting(Shouting):
    """Leaves out the last translation and the last prediction."""

    def TranslateText(
        self, request: translation_pb2.TranslateTextRequest, context: Any
    ) -> translation_pb2.TranslateTextResponse:
        del request.contents[-1]
        return super().TranslateText(request, context)

    def PredictNextToken(
        self, request: translation_pb2.PredictNextTokenRequest, context: Any
    ) -> translation_pb2.PredictNextTokenResponse:
        del request.target_prefixes[-1]
        return super().PredictNextToken(request, context)


async def test_too_few_results_are_an_error(stack: Stack) -> None:
    with served(Miscounting()) as address:
        async with stack.client(address) as client:
            with pytest.raises(ProtocolError, match="sent 1 translations for 2 asked for"):
                await client.translate(["one", "two"])
            with pytest.raises(ProtocolError, match="sent 0 translations for 1 asked for"):
                await client.translate("one")
            with pytest.raises(ProtocolError, match="sent 0 predictions for 1 asked for"):
                await client.next_token("one")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (translation_pb2.FINISH_REASON_LENGTH, FinishReason.LENGTH),
        (translation_pb2.FINISH_REASON_EMPTY, FinishReason.EMPTY),
        (99, FinishReason.UNKNOWN),
    ],
)
def test_finish_reasons(sent: Any, reason: FinishReason) -> None:
    class Ending(Shouting):
        def translated(self, text: str) -> translation_pb2.Translation:
            return translation_pb2.Translation(text=text, finish_reason=sent)

    with served(Ending()) as address, Client(address) as client:
        assert client.translate("x").finish_reason is reason
