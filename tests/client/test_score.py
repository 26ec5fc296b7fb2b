"""Scores and alignments: both clients and the command line."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.client import InvalidArgumentError, TokenIds, cli
from dragoman.v1 import translation_pb2
from tests.client.backend import MODEL, Shouting
from tests.client.conftest import Stack, texts

ENGLISH = "four hundred twenty-one"
GERMAN = "vierhunderteinundzwanzig"


async def test_what_is_sent(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address, model="models/mine") as client:
        one = await client.score("x", "yy")
        two = await client.score(
            TokenIds((5,)),
            ["y", TokenIds((6, 7))],
            include_alignment=True,
            source_language_code="en",
            target_language_code="de",
        )
        assert await client.score("x", []) == []
    assert (one.log_probability, one.model, one.source_token_count) == (-2, MODEL, 7)
    assert [each.log_probability for each in two] == [-1, 0]
    first, second = shouting.requests
    assert first == translation_pb2.ScoreTranslationRequest(
        model="models/mine", text="x", translations=[{"text": "yy"}]
    )
    assert second == translation_pb2.ScoreTranslationRequest(
        model="models/mine",
        token_ids={"ids": [5]},
        translations=[{"text": "y"}, {"token_ids": {"ids": [6, 7]}}],
        include_alignment=True,
        source_language_code="en",
        target_language_code="de",
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((5, "y"), {}, "text must be a str"),
        (("x", 5), {}, "translation must be a str or TokenIds, or a list of them"),
        (("x", ["y", 5]), {}, r"translations\[1\] must be a str or TokenIds"),
        (("x", "y"), {"include_alignment": 1}, "include_alignment must be a bool"),
        (("x", "y"), {"beam_size": 1}, "unexpected keyword argument 'beam_size'"),
    ],
)
async def test_wrong_types(
    stack: Stack, address: str, arguments: Any, options: dict[str, Any], message: str
) -> None:
    async with stack.client(address) as client:
        with pytest.raises(TypeError, match=message):
            await client.score(*arguments, **options)


async def test_scores_of_a_trained_model(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        right, wrong = await client.score(ENGLISH, [GERMAN, "neun"], include_alignment=True)
        with pytest.raises(InvalidArgumentError) as refused:
            await client.score(ENGLISH, ["x", "y\nz"])
    assert refused.value.field == "translations[1].text"
    assert right.log_probability > wrong.log_probability
    assert right.tokens[-1].piece == "</s>"
    alignment = right.alignment
    assert alignment is not None
    assert len(alignment.attention) == len(right.tokens) == len(alignment.links) + 1
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in alignment.attention)
    assert {len(row) for row in alignment.attention} == {len(alignment.source_tokens)}
    assert max(alignment.links) < len(alignment.source_tokens) - 1


async def test_the_score_of_a_translation_is_that_of_its_decoding(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        translation = await client.translate(ENGLISH, include_token_scores=True, hypothesis_count=4)
        ended = [each for each in translation.hypotheses if each.tokens[-1].piece == "</s>"]
        given = [TokenIds(tuple(t.token_id for t in each.tokens[:-1])) for each in ended]
        scores = await client.score(ENGLISH, given)
    assert ended
    assert [each.tokens for each in scores] == [each.tokens for each in ended]
    assert [s.log_probability for s in scores] == [each.log_probability for each in ended]


async def test_alignment_of_a_translation(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        translation = await client.translate(ENGLISH, include_alignment=True)
        stream = await client.stream(ENGLISH, include_alignment=True)
        await texts(stream)
        plain = await client.translate(ENGLISH)
    (hypothesis,) = translation.hypotheses
    assert hypothesis.alignment is not None
    assert len(hypothesis.alignment.attention) == len(hypothesis.tokens)
    assert "".join(each.text for each in hypothesis.alignment.source_tokens).strip() == ENGLISH
    assert stream.result == translation
    assert plain.hypotheses[0].alignment is None


def test_the_command_line(real: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["score", "--address", real, ENGLISH, GERMAN, "neun"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split("\t")[1] for line in lines] == [GERMAN, "neun"]
    assert cli.main(["score", "--address", real, "--alignment", ENGLISH, GERMAN]) == 0
    first, header, *rows = capfd.readouterr().out.splitlines()
    assert first.endswith(GERMAN)
    assert header.split() == ["log-probability", "id", "piece", "source"]
    assert len(rows[0].split()) == 4
    assert rows[-1].split()[-1] == "</s>"
    assert cli.main(["score", "--address", real, "--tokens", ENGLISH, GERMAN]) == 0
    assert "source" not in capfd.readouterr().out
    assert cli.main(["translate", "--address", real, "--alignment", ENGLISH]) == 0
    assert "source" in capfd.readouterr().out
