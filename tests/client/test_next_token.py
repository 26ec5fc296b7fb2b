"""`next_token`: one prefix or several, exact shapes, nothing made up."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.client import Candidate, InvalidArgumentError, NextToken, QueriedToken, TokenIds
from tests.client.backend import MODEL, Shouting, invalid
from tests.client.conftest import Stack


async def test_one_prefix_gives_one_prediction(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        prediction = await client.next_token("one", "AB", 2, queried=(8,))
    assert prediction == NextToken(
        candidates=(
            Candidate(token_id=0, piece="▁0", text=" 0", log_probability=-0.25),
            Candidate(token_id=1, piece="▁1", text=" 1", log_probability=-1.25),
        ),
        queried=(QueriedToken(token_id=8, piece="▁8", text="", log_probability=-9.5, rank=9),),
        entropy=1.25,
        prefix_token_ids=(65, 66),
        source_token_count=7,
        model=MODEL,
    )


async def test_the_defaults(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address) as client:
        prediction = await client.next_token("one")
    assert len(prediction.candidates) == 5
    assert prediction.queried == ()
    (request,) = shouting.requests
    assert request.text == "one"
    assert request.top_k == 5
    assert [prefix.text for prefix in request.target_prefixes] == [""]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 100])
async def test_as_many_candidates_as_asked_for(stack: Stack, address: str, count: int) -> None:
    async with stack.client(address) as client:
        prediction = await client.next_token("one", top_k=count, queried=[77])
    assert [candidate.token_id for candidate in prediction.candidates] == list(range(count))
    assert [token.token_id for token in prediction.queried] == [77]


async def test_several_prefixes_in_one_call(stack: Stack, address: str, shouting: Shouting) -> None:
    prefixes = ["", "A", TokenIds((3, 4)), TokenIds(())]
    async with stack.client(address) as client:
        predictions = await client.next_token("one", prefixes)
        assert await client.next_token("one", []) == []
        assert len(await client.next_token("one", ("A",))) == 1
    assert [prediction.prefix_token_ids for prediction in predictions] == [(), (65,), (3, 4), ()]
    assert len(shouting.requests) == 2


async def test_a_source_of_tokens(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address) as client:
        await client.next_token(TokenIds((5, 6)), TokenIds((7,)))
        await client.next_token(TokenIds(()))
    first, second = shouting.requests
    assert list(first.token_ids.ids) == [5, 6]
    assert second.WhichOneof("source") == "token_ids"


async def test_the_server_judges_the_bounds(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.failures += [invalid(("top_k", "0 is not in 1..100"))] * 2
    async with stack.client(address) as client:
        for count in (0, 10_000):
            with pytest.raises(InvalidArgumentError) as caught:
                await client.next_token("one", top_k=count)
            assert caught.value.field == "top_k"
    assert [request.top_k for request in shouting.requests] == [0, 10_000]
    assert shouting.requests[0].HasField("top_k")


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((3,), {}, "text must be a str"),
        ((["one"],), {}, "text must be a str"),
        (("one", 3), {}, "prefix must be a str or TokenIds, or a list of them, not int"),
        (("one", {"a"}), {}, "prefix must be a str or TokenIds, or a list of them, not set"),
        (("one", [3]), {}, r"target_prefixes\[0\] must be a str or TokenIds, not int"),
        (("one", ""), {"top_k": 2.0}, "top_k must be an int, not float"),
        (("one", ""), {"queried": 3}, "queried_token_ids must be a list or tuple of int"),
        (("one", ""), {"queried": ["3"]}, r"queried_token_ids\[0\] must be an int, not str"),
        (("one", ""), {"temperature": 1}, "temperature"),
    ],
)
async def test_wrong_types(
    stack: Stack, address: str, arguments: Any, keywords: Any, message: str
) -> None:
    async with stack.client(address) as client:
        with pytest.raises(TypeError, match=message):
            await client.next_token(*arguments, **keywords)


async def test_lone_surrogates(stack: Stack, address: str) -> None:
    async with stack.client(address) as client:
        with pytest.raises(InvalidArgumentError, match=r"^text: lone surrogate"):
            await client.next_token("\ud800")
        with pytest.raises(InvalidArgumentError, match=r"^target_prefixes\[1\].text: lone"):
            await client.next_token("one", ["", "\udc00"])
