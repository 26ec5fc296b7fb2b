import math

import pytest

from dragoman.v1 import translation_pb2
from tests.server.harness import Hosted, failure

Prefix = translation_pb2.TargetPrefix
Ids = translation_pb2.TokenIds


def test_the_likeliest_tokens_after_nothing(server: Hosted) -> None:
    response = server.predict(text="four hundred")
    assert response.model == server.model().name
    assert response.source_token_count == len(server.engine.tokenizer.encode_source("four hundred"))
    (prediction,) = response.predictions
    assert len(prediction.candidates) == 5
    scores = [candidate.log_probability for candidate in prediction.candidates]
    assert scores == sorted(scores, reverse=True)
    assert all(score <= 0 for score in scores)
    best = prediction.candidates[0]
    assert "vierhundert".startswith(best.text.strip())
    assert best.piece == server.engine.tokenizer.piece(best.token_id)
    assert 0 <= prediction.entropy <= math.log(server.model().vocabulary_size)
    assert list(prediction.prefix_token_ids.ids) == []


def test_following_the_best_token_gives_the_translation(server: Hosted) -> None:
    (translation,) = server.translate("seven hundred nine").translations
    tokenizer, total = server.engine.tokenizer, 0.0
    ids: list[int] = []
    while True:
        prefix = Prefix(token_ids=Ids(ids=ids))
        response = server.predict(text="seven hundred nine", target_prefixes=[prefix], top_k=1)
        best = response.predictions[0].candidates[0]
        total += best.log_probability
        if best.token_id == tokenizer.special.eos:
            break
        ids.append(best.token_id)
    assert tokenizer.decode(ids) == translation.text
    assert total == pytest.approx(translation.log_probability, abs=1e-9)


def test_several_prefixes_of_one_source_as_one_by_one(server: Hosted) -> None:
    prefixes = [
        Prefix(),
        Prefix(text="vier"),
        Prefix(text="vier "),
        Prefix(token_ids=Ids(ids=server.engine.tokenizer.encode("fünfhundert"))),
    ]
    together = server.predict(text="four hundred", target_prefixes=prefixes, top_k=7)
    assert len(together.predictions) == len(prefixes)
    for prefix, prediction in zip(prefixes, together.predictions, strict=True):
        alone = server.predict(text="four hundred", target_prefixes=[prefix], top_k=7)
        assert alone.predictions[0] == prediction


def test_a_space_at_the_end_starts_a_new_word(server: Hosted) -> None:
    for candidate in (
        server.predict(text="four", target_prefixes=[Prefix(text="vier ")], top_k=3)
        .predictions[0]
        .candidates
    ):
        assert candidate.piece.startswith("\u2581")


def test_named_tokens_have_probability_and_rank(server: Hosted) -> None:
    top = server.predict(text="four", top_k=10).predictions[0].candidates
    ids = [top[9].token_id, top[0].token_id, top[4].token_id, 1]
    queried = server.predict(text="four", queried_token_ids=ids).predictions[0].queried_tokens
    assert [token.token_id for token in queried] == ids
    assert [token.rank for token in queried[:3]] == [10, 1, 5]
    assert queried[1].log_probability == top[0].log_probability
    assert queried[1].piece == top[0].piece
    assert queried[1].text == top[0].text


def test_a_source_by_tokens_is_the_same_as_by_text(server: Hosted) -> None:
    ids = server.engine.tokenizer.encode_source("four hundred")
    by_text = server.predict(text="four hundred")
    assert server.predict(token_ids=Ids(ids=ids)).predictions == by_text.predictions
    assert server.predict(token_ids=Ids(ids=ids[:-1])).predictions == by_text.predictions


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "source"),
        ({"text": ""}, "text"),
        ({"text": "one\ntwo"}, "text"),
        ({"text": "one " * 1000}, "text"),
        ({"token_ids": {"ids": []}}, "token_ids.ids"),
        ({"token_ids": {"ids": [10, 2**31 - 1]}}, "token_ids.ids[1]"),
        ({"token_ids": {"ids": [3, 10]}}, "token_ids.ids[0]"),
        ({"text": "one", "top_k": 0}, "top_k"),
        ({"text": "one", "top_k": 101}, "top_k"),
        ({"text": "one", "queried_token_ids": [-1]}, "queried_token_ids[0]"),
        ({"text": "one", "queried_token_ids": [1] * 101}, "queried_token_ids"),
        ({"text": "one", "target_prefixes": [{"text": "a"}] * 65}, "target_prefixes"),
        (
            {"text": "one", "target_prefixes": [{}, {"text": "a\nb"}]},
            "target_prefixes[1].text",
        ),
        (
            {"text": "one", "target_prefixes": [{"token_ids": {"ids": [3]}}]},
            "target_prefixes[0].token_ids.ids[0]",
        ),
        ({"text": "one", "target_language_code": "en"}, "target_language_code"),
    ],
)
def test_what_is_out_of_bounds_is_named(
    server: Hosted, fields: dict[str, object], field: str
) -> None:
    refused = failure(lambda: server.predict(**fields))
    assert refused.code == "INVALID_ARGUMENT"
    assert [name for name, _ in refused.violations] == [field]


def test_at_the_limits(server: Hosted) -> None:
    response = server.predict(
        text="one",
        target_prefixes=[Prefix(text="eins")] * 64,
        top_k=100,
        queried_token_ids=[5] * 100,
    )
    assert len(response.predictions) == 64
    assert all(len(prediction.candidates) == 100 for prediction in response.predictions)
    assert all(len(prediction.queried_tokens) == 100 for prediction in response.predictions)
