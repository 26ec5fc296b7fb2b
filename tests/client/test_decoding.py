"""How to decode: what both clients and the command line send, and what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.client import FinishReason, InvalidArgumentError, Sampling, Term, TokenIds
from dragoman.client import _requests as requests
from dragoman.v1 import translation_pb2
from tests.client.backend import Shouting
from tests.client.conftest import Run, Stack, texts

ENGLISH = "four hundred twenty-one"
FIELD = "decoding_options"

ALL: dict[str, Any] = {
    "beam_size": 5,
    "hypothesis_count": 2,
    "length_penalty": -0.5,
    "patience": 2.5,
    "pruning_margin": 0.25,
    "max_output_tokens": 40,
    "min_output_tokens": 3,
    "repetition_penalty": 1.25,
    "no_repeat_ngram_size": 4,
    "suppressed_token_ids": [7, 8],
    "prefix_bias": 0.5,
    "alternative_count": 0,
    "finish_at_deadline": True,
    "include_token_scores": True,
    "include_alignment": True,
    "sampling": Sampling(temperature=2, top_k=0, top_p=0.5, min_p=0.0, sample_count=3, seed=-9),
    "terms": (Term("a", "b", bonus=0.0, hard=False), Term("c", ("d", "e"), match_case=True)),
}
WIRE: dict[str, Any] = {
    "beam_size": 5,
    "hypothesis_count": 2,
    "length_penalty": -0.5,
    "patience": 2.5,
    "pruning_margin": 0.25,
    "max_output_token_count": 40,
    "min_output_token_count": 3,
    "repetition_penalty": 1.25,
    "no_repeat_ngram_size": 4,
    "suppressed_token_ids": [7, 8],
    "prefix_bias": 0.5,
    "alternative_count": 0,
    "finish_at_deadline": True,
    "include_token_scores": True,
    "include_alignment": True,
    "sampling": {
        "temperature": 2,
        "top_k": 0,
        "top_p": 0.5,
        "min_p": 0,
        "sample_count": 3,
        "seed": -9,
    },
    "terms": [
        {"source": "a", "targets": ["b"], "mode": 2, "bonus": 0},
        {"source": "c", "targets": ["d", "e"], "mode": 1, "match_case": True},
    ],
}


async def test_every_option_is_sent(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address) as client:
        await client.translate("x", **ALL)
        await texts(await client.stream("x", **ALL))
    expected = translation_pb2.DecodingOptions(**WIRE)
    assert [request.decoding_options for request in shouting.requests] == [expected] * 2
    for message, given in (
        (translation_pb2.DecodingOptions, set(WIRE)),
        (translation_pb2.Sampling, set(WIRE["sampling"])),
        (translation_pb2.Term, set().union(*WIRE["terms"])),
    ):
        assert {field.name for field in message.DESCRIPTOR.fields} == given


def test_none_and_the_empty_are_not_sent() -> None:
    nothing = dict.fromkeys(("beam_size", "sampling", "prefix_bias", "length_penalty"))
    request = requests.translate(["x"], model="", **nothing, terms=[], suppressed_token_ids=())
    assert not request.HasField("decoding_options")
    drawn = requests.translate(["x"], model="", sampling=Sampling()).decoding_options
    assert drawn.HasField("sampling")
    assert not drawn.sampling.ListFields()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 1.0}, f"{FIELD}.beam_size must be an int"),
        ({"beam_size": True}, f"{FIELD}.beam_size must be an int"),
        ({"length_penalty": "1"}, f"{FIELD}.length_penalty must be a float"),
        ({"prefix_bias": False}, f"{FIELD}.prefix_bias must be a float"),
        ({"sampling": {"seed": 1}}, f"{FIELD}.sampling must be Sampling"),
        ({"sampling": Sampling(seed=0.5)}, f"{FIELD}.sampling.seed must be an int"),  # type: ignore[arg-type]
        ({"sampling": Sampling(top_p="x")}, f"{FIELD}.sampling.top_p must be"),  # type: ignore[arg-type]
        ({"suppressed_token_ids": 5}, f"{FIELD}.suppressed_token_ids must be a list"),
        ({"suppressed_token_ids": ["a"]}, f"{FIELD}.suppressed_token_ids[0] must be an int"),
        ({"terms": "a=b"}, f"{FIELD}.terms must be a Term, or a list of them"),
        ({"terms": [("a", "b")]}, f"{FIELD}.terms[0] must be a Term"),
        ({"terms": [Term("a", 5)]}, f"{FIELD}.terms[0].targets must be a str"),  # type: ignore[arg-type]
        ({"terms": [Term("a", "b", hard=1)]}, f"{FIELD}.terms[0].mode must be a bool"),  # type: ignore[arg-type]
        ({"finish_at_deadline": 1}, f"{FIELD}.finish_at_deadline must be a bool"),
        ({"n_best": 3}, "unexpected keyword argument 'n_best'"),
    ],
)
def test_wrong_types(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        requests.translate(["x"], model="", **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 2**31}, f"{FIELD}.beam_size: 2147483648 is no 32-bit integer"),
        ({"sampling": Sampling(seed=2**63)}, f"{FIELD}.sampling.seed: {2**63} is no 64-bit"),
        ({"length_penalty": 10**400}, "is no double-precision number"),
        ({"terms": Term("\ud800", "b")}, f"{FIELD}.terms[0].source: lone surrogate"),
        ({"terms": Term("a", ("b", "\ud800"))}, f"{FIELD}.terms[0].targets[1]: lone surrogate"),
    ],
)
def test_what_the_wire_cannot_carry(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        requests.translate(["x"], model="", **options)
    assert message in str(caught.value)


async def test_hypotheses(stack: Stack, real: str) -> None:
    options: dict[str, Any] = {
        "beam_size": 4,
        "hypothesis_count": 3,
        "include_token_scores": True,
        "terms": [Term("hundred", ("tausend", "sieben")), Term("million", "x")],
    }
    async with stack.client(real) as client:
        translation = await client.translate(ENGLISH, **options)
        stream = await client.stream(ENGLISH, **options)
        assert "".join(await texts(stream)) == translation.text
        assert stream.result == translation
    assert len(translation.hypotheses) == 3
    scores = [hypothesis.score for hypothesis in translation.hypotheses]
    assert scores == sorted(scores, reverse=True)
    best = translation.hypotheses[0]
    assert best.text == translation.text
    assert best.finish_reason is FinishReason.STOP
    assert best.tokens[-1].piece == "</s>"
    assert sum(token.log_probability for token in best.tokens) == pytest.approx(
        best.log_probability
    )
    found, missing = best.term_results
    assert (found.source_line_count, found.met_line_count) == (1, 1)
    assert (missing.source_line_count, missing.met_line_count) == (0, 0)
    assert best.term_results == translation.term_results
    assert translation.seed is None


async def test_alternatives_are_the_next_tokens(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        next_token = await client.next_token(ENGLISH, "vier", 4)
        translation = await client.translate(
            ENGLISH, prefix="vier", alternative_count=4, include_token_scores=True
        )
    place = len(next_token.prefix_token_ids)
    starts = [hypothesis.tokens[place].token_id for hypothesis in translation.hypotheses]
    assert starts == [candidate.token_id for candidate in next_token.candidates]


async def test_a_seed_is_told_and_draws_the_same_again(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        first = await client.translate(ENGLISH, sampling=Sampling(temperature=5))
        again = await client.translate(ENGLISH, sampling=Sampling(temperature=5, seed=first.seed))
    assert first.seed is not None
    assert again == first


async def test_refusals_name_the_field(stack: Stack, real: str) -> None:
    async with stack.client(real) as client:
        with pytest.raises(InvalidArgumentError) as wide:
            await client.translate(ENGLISH, beam_size=17)
        with pytest.raises(InvalidArgumentError) as several:
            await client.translate(["x", "y\nz"], beam_size=4, hypothesis_count=2)
        with pytest.raises(InvalidArgumentError) as biased:
            await client.translate("x", prefix=TokenIds((9,)), prefix_bias=1)
    assert wide.value.field == f"{FIELD}.beam_size"
    assert several.value.field == "contents[1]"
    assert biased.value.field == f"{FIELD}.prefix_bias"


def test_the_options_of_the_command_line(run: Run, address: str, shouting: Shouting) -> None:
    arguments = """--beam-size 5 --n-best 2 --length-penalty -0.5 --patience 2.5
        --pruning-margin 0.25 --max-output-tokens 40
        --min-output-tokens 3 --repetition-penalty 1.25 --no-repeat-ngram-size 4 --suppress 7
        --suppress 8 --prefix-bias 0.5 --prefix Das --alternatives 0 --scores --alignment
        --finish-at-deadline
        --temperature 2 --top-k 0 --top-p 0.5 --min-p 0 --samples 3 --seed -9
        --soft-term a=b --term-bonus 0"""
    hard = ("--term", "c x=d|e")
    code, _, errors = run("translate", "--address", address, *arguments.split(), *hard, "x")
    assert (code, errors) == (0, "")
    (request,) = shouting.requests
    expected = translation_pb2.DecodingOptions(**WIRE)
    soft = expected.terms[0]
    del expected.terms[:]
    expected.terms.add(source="c x", targets=["d", "e"], mode=translation_pb2.TERM_MODE_HARD)
    expected.terms.append(soft)
    assert request.decoding_options == expected
    assert request.target_prefix.text == "Das"


def test_sample_alone_asks_for_sampling(run: Run, address: str, shouting: Shouting) -> None:
    assert run("translate", "--address", address, "--sample", "x")[0] == 0
    assert run("translate", "--address", address, "x")[0] == 0
    drawn, plain = shouting.requests
    assert drawn.decoding_options.HasField("sampling")
    assert not plain.HasField("decoding_options")


@pytest.mark.parametrize(
    "flags", [("--n-best", "2"), ("--alternatives", "2"), ("--scores",), ("--alignment",)]
)
def test_a_stream_shows_one_translation(run: Run, address: str, flags: tuple[str, ...]) -> None:
    code, _, errors = run("translate", "--address", address, "--stream", *flags, "x")
    assert code == 2
    assert "--stream shows one translation" in errors


def test_a_term_without_a_target(run: Run, address: str) -> None:
    code, _, errors = run("translate", "--address", address, "--term", "file", "x")
    assert code == 2
    assert "--term: 'file' is not of the form source=target" in errors


def test_match_case_holds_for_all_terms(run: Run, address: str, shouting: Shouting) -> None:
    terms = ("--term", "a=b", "--soft-term", "c=d", "--match-case")
    assert run("translate", "--address", address, *terms, "x")[0] == 0
    (request,) = shouting.requests
    assert [term.match_case for term in request.decoding_options.terms] == [True, True]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--term-bonus", "2", "--term", "a=b"), "--term-bonus is for a --soft-term"),
        (("--match-case",), "--match-case is for a --term or --soft-term"),
    ],
)
def test_flags_of_terms_need_terms(
    run: Run, address: str, flags: tuple[str, ...], message: str
) -> None:
    code, _, errors = run("translate", "--address", address, *flags, "x")
    assert code == 2
    assert message in errors


def test_the_command_line_shows_all_hypotheses(run: Run, real: str) -> None:
    code, output, errors = run("translate", "--address", real, "--n-best", "3", ENGLISH, "one")
    assert (code, errors) == (0, "")
    first, second, rest = output.split("\n\n")
    assert rest == ""
    for block, text in ((first, "vierhunderteinundzwanzig"), (second, "eins")):
        scores, shown = zip(*(line.split("\t") for line in block.split("\n")), strict=True)
        assert shown[0] == text
        assert sorted(map(float, scores), reverse=True) == list(map(float, scores))
    code, output, _ = run("translate", "--address", real, "--scores", ENGLISH)
    assert code == 0
    assert "</s>" in output


def test_the_command_line_tells_seed_and_terms(run: Run, real: str) -> None:
    drawing = ("translate", "--address", real, "--temperature", "3")
    _, output, errors = run(*drawing, ENGLISH)
    assert errors.startswith("dragoman: seed ")
    seed = ("--seed", errors.split()[2])
    assert run(*drawing, *seed, ENGLISH)[:2] == (0, output)
    assert run(*drawing, *seed, "--stream", ENGLISH)[:2] == (0, output)
    flags = ("--soft-term", "hundred=million", "--term-bonus", "0")
    code, _, errors = run("translate", "--address", real, *flags, ENGLISH)
    assert (code, errors) == (0, "dragoman: a translation of 'hundred' is not as asked\n")
    code, output, errors = run("translate", "--address", real, "--term", "one=sieben", "one")
    assert (code, errors) == (0, "")
    assert "sieben" in output
