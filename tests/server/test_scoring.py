"""Scores and alignments through the wire are the engine's."""

import queue
from typing import Any

import pytest

from dragoman.engine import DecodingOptions, Finished, ScoreRequest, TranslationRequest
from dragoman.v1 import translation_pb2
from tests.server.harness import DEADLINE, Hosted, failure

TEXT = "four hundred twenty-one"
GERMAN = "vierhunderteinundzwanzig"
Translations = list[dict[str, Any]]


def score(
    server: Hosted, translations: Translations, **fields: Any
) -> translation_pb2.ScoreTranslationResponse:
    request = translation_pb2.ScoreTranslationRequest(
        **({"text": TEXT, "translations": translations} | fields)
    )
    return server.translation.ScoreTranslation(request, timeout=DEADLINE)


def run(server: Hosted, request: ScoreRequest | TranslationRequest) -> Any:
    """What the engine behind the server gives."""
    events: queue.Queue[Any] = queue.Queue()
    server.engine.submit(request, events.put)
    event = events.get(timeout=DEADLINE)
    assert isinstance(event, Finished), event
    return event.result


def check_alignment(
    server: Hosted, got: translation_pb2.Alignment, expected: Any, source: tuple[int, ...]
) -> None:
    assert [token.token_id for token in got.source_tokens] == list(source)
    assert [tuple(attention.weights) for attention in got.attentions] == list(expected.attention)
    assert list(got.links) == list(expected.links)


@pytest.mark.parametrize("aligned", [False, True])
def test_scores_are_the_engines(server: Hosted, aligned: bool) -> None:
    tokenizer = server.engine.tokenizer
    ids = tokenizer.encode("neun")
    given: Translations = [{"text": f" {GERMAN} "}, {"token_ids": {"ids": ids}}, {"text": ""}, {}]
    response = score(server, given, include_alignment=aligned)
    source = tokenizer.encode_source(TEXT)
    targets = (tokenizer.encode(GERMAN), ids, (), ())
    result = run(server, ScoreRequest(source, targets, return_alignment=aligned))
    assert response.model == server.model().name
    assert response.source_token_count == len(source)
    for got, expected, target in zip(response.scores, result.scores, targets, strict=True):
        assert got.log_probability == expected.log_probability
        assert [t.log_probability for t in got.tokens] == list(expected.log_probabilities)
        assert [t.token_id for t in got.tokens] == [*target, tokenizer.special.eos]
        assert got.HasField("alignment") == aligned
        if aligned:
            check_alignment(server, got.alignment, expected.alignment, source)
    assert response.scores[0].log_probability > response.scores[1].log_probability


def test_a_decoded_translation_and_its_score_are_equal(server: Hosted) -> None:
    wire = {"include_token_scores": True, "hypothesis_count": 4}
    (translation,) = server.translate(TEXT, decoding_options=wire).translations
    ended = [h for h in translation.hypotheses if h.tokens[-1].piece == "</s>"]
    assert ended
    given = [
        {"token_ids": {"ids": [token.token_id for token in hypothesis.tokens[:-1]]}}
        for hypothesis in ended
    ]
    for hypothesis, got in zip(ended, score(server, given).scores, strict=True):
        assert list(got.tokens) == list(hypothesis.tokens)
        assert got.log_probability == hypothesis.log_probability


def test_alignments_of_hypotheses_are_the_engines(server: Hosted) -> None:
    source = server.engine.tokenizer.encode_source(TEXT)
    options = DecodingOptions(beam_size=4, hypothesis_count=2, return_alignment=True)
    expected = run(server, TranslationRequest(source, options=options)).hypotheses
    wire = {"include_alignment": True, "hypothesis_count": 2}
    (translation,) = server.translate(TEXT, decoding_options=wire).translations
    summary = server.stream(TEXT, decoding_options=wire)[-1].summary
    assert list(summary.hypotheses) == list(translation.hypotheses)
    for got, hypothesis in zip(translation.hypotheses, expected, strict=True):
        assert len(got.tokens) == len(hypothesis.log_probabilities)
        check_alignment(server, got.alignment, hypothesis.alignment, source)
    (plain,) = server.translate(TEXT).translations
    assert not plain.hypotheses[0].HasField("alignment")


def test_alignments_are_for_single_lines(server: Hosted) -> None:
    wire = {"include_alignment": True}
    refused = failure(lambda: server.translate("one\ntwo", decoding_options=wire))
    assert "with decoding_options.include_alignment" in refused.message


def test_scores_are_counted(server: Hosted) -> None:
    names = ("dragoman_finished_total", "dragoman_scored_tokens_total")
    before = server.metric(names[0], reason="score"), server.metric(names[1])
    response = score(server, [{"text": GERMAN}, {"text": "neun"}])
    count = sum(len(each.tokens) for each in response.scores)
    assert server.metric(names[0], reason="score") == before[0] + 1
    assert server.metric(names[1]) == before[1] + count


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"text": ""}, "text", "blank"),
        ({"text": "a\nb"}, "text", "2 lines"),
        ({"translations": []}, "translations", "0 items; it must be 1 to 64 items"),
        ({"translations": [{}] * 65}, "translations", "65 items"),
        ({"translations": [{}, {"text": "a\nb"}]}, "translations[1].text", "several lines"),
        ({"translations": [{"text": "q x " * 99}]}, "translations[0].text", "it must be at most"),
        (
            {"translations": [{"token_ids": {"ids": [9] * 63}}, {"token_ids": {"ids": [9] * 64}}]},
            "translations[1].token_ids.ids",
            "is 64 tokens; it must be at most 63 tokens",
        ),
        (
            {"translations": [{"token_ids": {"ids": [9, 3]}}]},
            "translations[0].token_ids.ids[1]",
            "end-of-sentence",
        ),
        (
            {"translations": [{"token_ids": {"ids": [9, 99999]}}]},
            "translations[0].token_ids.ids[1]",
            "is 99999; it must be 0 to",
        ),
        ({"target_language_code": "fr"}, "target_language_code", "'fr'"),
    ],
)
def test_what_is_out_of_bounds_is_named(
    server: Hosted, fields: dict[str, Any], field: str, message: str
) -> None:
    refused = failure(lambda: score(server, **({"translations": [{"text": "x"}]} | fields)))
    assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
    assert refused.violations[0][0] == field
    assert message in refused.message


def test_a_source_is_needed(server: Hosted) -> None:
    request = translation_pb2.ScoreTranslationRequest(translations=[{"text": "x"}])
    refused = failure(lambda: server.translation.ScoreTranslation(request, timeout=DEADLINE))
    assert refused.violations[0][0] == "source"
