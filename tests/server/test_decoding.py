"""Every decoding option through the wire gives what the engine itself gives."""

import queue
import time
from pathlib import Path
from typing import Any

import pytest

from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineObserver,
    EngineOptions,
    Failed,
    Finished,
    OnDeadline,
    SamplingOptions,
    Term,
    TranslationRequest,
    TranslationResult,
)
from dragoman.server.terms import spellings
from dragoman.v1 import translation_pb2
from tests.server.harness import DEADLINE, Hosted, config, failure, hosted

FIELD = "decoding_options"
ONE_LINE = "one line that is not blank"
TEXT = "four hundred twenty-one"
Wire = dict[str, Any]


def engine_result(server: Hosted, options: DecodingOptions, **fields: Any) -> TranslationResult:
    """What the engine behind the server gives for the text."""
    engine = server.engine
    source = engine.tokenizer.encode_source(TEXT)
    events: queue.Queue[Any] = queue.Queue()
    engine.submit(TranslationRequest(source, options=options, **fields), events.put)
    match events.get(timeout=DEADLINE):
        case Finished(result=TranslationResult() as result):
            return result
        case Failed(error=error):
            raise error
        case other:
            raise AssertionError(other)


def check_equal(
    server: Hosted, wire: Wire, options: DecodingOptions, prefix: Wire | None = None, **fields: Any
) -> TranslationResult:
    """Unary and streamed answers are those of the engine, number by number."""
    expected = engine_result(server, options, **fields)
    tokenizer = server.engine.tokenizer
    more = {"target_prefix": prefix} if prefix else {}
    wire = wire | {"include_token_scores": True}
    (unary,) = server.translate(TEXT, decoding_options=wire, **more).translations
    messages = server.stream(TEXT, decoding_options=wire, **more)
    summary = messages[-1].summary
    assert "".join(message.text_delta for message in messages) == unary.text
    assert list(summary.hypotheses) == list(unary.hypotheses)
    assert list(summary.term_results) == list(unary.term_results)
    assert unary.text == unary.hypotheses[0].text
    assert unary.log_probability == unary.hypotheses[0].log_probability
    assert len(unary.hypotheses) == len(expected.hypotheses)
    for got, hypothesis in zip(unary.hypotheses, expected.hypotheses, strict=True):
        assert got.text == tokenizer.decode(hypothesis.token_ids)
        assert got.score == hypothesis.score
        assert got.log_probability == hypothesis.log_probability
        name = translation_pb2.FinishReason.Name(got.finish_reason)
        assert name == f"FINISH_REASON_{hypothesis.finish_reason.name}"
        assert [token.log_probability for token in got.tokens] == list(hypothesis.log_probabilities)
        ids = [token.token_id for token in got.tokens if token.piece != "</s>"]
        assert ids == list(hypothesis.token_ids)
    return expected


@pytest.mark.parametrize(
    ("wire", "options"),
    [
        ({}, DecodingOptions(beam_size=4)),
        ({"beam_size": 1}, DecodingOptions()),
        ({"beam_size": 7}, DecodingOptions(beam_size=7)),
        (
            {"beam_size": 6, "hypothesis_count": 5},
            DecodingOptions(beam_size=6, hypothesis_count=5),
        ),
        (
            {"length_penalty": -1.5, "hypothesis_count": 4},
            DecodingOptions(beam_size=4, length_penalty=-1.5, hypothesis_count=4),
        ),
        ({"length_penalty": 0}, DecodingOptions(beam_size=4, length_penalty=0)),
        ({"patience": 0}, DecodingOptions(beam_size=4, patience=0)),
        (
            {"patience": 2.5, "pruning_margin": 0},
            DecodingOptions(beam_size=4, patience=2.5, pruning_margin=0),
        ),
        ({"repetition_penalty": 3}, DecodingOptions(beam_size=4, repetition_penalty=3)),
        (
            {"no_repeat_ngram_size": 1, "beam_size": 1},
            DecodingOptions(no_repeat_ngram_size=1),
        ),
        (
            {"min_output_token_count": 20, "max_output_token_count": 25},
            DecodingOptions(beam_size=4, min_output_tokens=20, max_output_tokens=25),
        ),
        (
            {"suppressed_token_ids": list(range(4, 300))},
            DecodingOptions(beam_size=4, suppressed_ids=tuple(range(4, 300))),
        ),
        ({"alternative_count": 5}, DecodingOptions(beam_size=4, alternatives=5)),
        (
            {"alternative_count": 3, "beam_size": 1},
            DecodingOptions(alternatives=3),
        ),
        (
            {"sampling": {"seed": -5}},
            DecodingOptions(sampling=SamplingOptions(seed=-5)),
        ),
        (
            {"sampling": {"seed": 1, "temperature": 5, "top_k": 7}},
            DecodingOptions(sampling=SamplingOptions(seed=1, temperature=5, top_k=7)),
        ),
        (
            {"sampling": {"seed": 2, "temperature": 3, "top_p": 0.9, "min_p": 0.01}},
            DecodingOptions(sampling=SamplingOptions(seed=2, temperature=3, top_p=0.9, min_p=0.01)),
        ),
        (
            {"sampling": {"seed": 3, "temperature": 2}, "hypothesis_count": 4},
            DecodingOptions(
                sampling=SamplingOptions(seed=3, temperature=2, sample_count=4),
                hypothesis_count=4,
            ),
        ),
        (
            {"sampling": {"seed": 3, "temperature": 2, "sample_count": 9}},
            DecodingOptions(sampling=SamplingOptions(seed=3, temperature=2, sample_count=9)),
        ),
        ({"finish_at_deadline": True}, DecodingOptions(beam_size=4, on_deadline=OnDeadline.BEST)),
    ],
)
def test_an_option_is_the_engines(server: Hosted, wire: Wire, options: DecodingOptions) -> None:
    check_equal(server, wire, options)


@pytest.mark.parametrize("bias", [None, 0.0, 0.3, 0.9])
@pytest.mark.parametrize("text", ["fünf", "fünf ", "sechshundert"])
def test_a_prefix_is_forced_or_wished_for(server: Hosted, text: str, bias: float | None) -> None:
    prefix = server.engine.tokenizer.encode_prefix(text)
    check_equal(
        server,
        {} if bias is None else {"prefix_bias": bias},
        DecodingOptions(beam_size=4, prefix_bias=bias),
        {"text": text},
        prefix_ids=prefix.ids,
        starts_new_word=prefix.starts_new_word,
    )


@pytest.mark.parametrize("hard", [True, False])
def test_terms_are_the_engines(server: Hosted, hard: bool) -> None:
    tokenizer = server.engine.tokenizer
    ids = spellings("sieben", tokenizer) + spellings("acht", tokenizer)
    mode = translation_pb2.TERM_MODE_HARD if hard else translation_pb2.TERM_MODE_SOFT
    bonus = {} if hard else {"bonus": 2.5}
    term = {"source": "Hundred", "targets": ["sieben", "acht"], "mode": mode, **bonus}
    other = {"source": "thousand", "targets": ["tausend"]}
    expected = check_equal(
        server,
        {"terms": [other, term], "hypothesis_count": 3},
        DecodingOptions(
            beam_size=4,
            hypothesis_count=3,
            terms=(Term(ids, hard=hard, bonus=2.5),),
        ),
    )
    assert expected.hypotheses[0].met_terms == (True,) or not hard


def test_what_became_of_terms_is_told(server: Hosted) -> None:
    terms = [
        {"source": "one", "targets": ["eine", "sieben"]},
        {"source": "THOUSAND", "targets": ["million"], "mode": translation_pb2.TERM_MODE_SOFT},
        {"source": "Two", "targets": ["drei"], "match_case": True},
        {"source": "twenty", "targets": ["zwanzig"], "mode": translation_pb2.TERM_MODE_SOFT},
    ]
    text = "one\ntwo thousand\n\ntwenty-one"
    (translation,) = server.translate(text, decoding_options={"terms": terms}).translations
    results = [(r.source_line_count, r.met_line_count) for r in translation.term_results]
    first, second, _, third = translation.text.split("\n")
    met = [any(word in line for word in ("eine", "sieben")) for line in (first, third)]
    assert met == [True, True]
    assert results == [(2, 2), (1, "million" in second), (0, 0), (1, "zwanzig" in third)]
    assert not translation.hypotheses


def test_the_server_draws_a_seed_and_tells_it(server: Hosted) -> None:
    wire: Wire = {"sampling": {"temperature": 4.0}}
    first = server.translate(TEXT, "one\ntwo", decoding_options=wire)
    other = server.translate(TEXT, decoding_options=wire)
    assert first.HasField("seed")
    assert first.seed != other.seed
    wire["sampling"]["seed"] = first.seed
    again = server.translate(TEXT, "one\ntwo", decoding_options=wire)
    assert again.seed == first.seed
    texts = [translation.text for translation in first.translations]
    assert [translation.text for translation in again.translations] == texts
    assert server.stream(TEXT, decoding_options=wire)[-1].summary.seed == first.seed
    assert not server.translate(TEXT).HasField("seed")
    assert not server.stream(TEXT)[-1].summary.HasField("seed")


def test_tokens_come_only_where_asked_for(server: Hosted) -> None:
    (plain,) = server.translate(f" {TEXT}\n").translations
    (hypothesis,) = plain.hypotheses
    assert hypothesis.text == plain.text
    assert not hypothesis.tokens
    wire = {"include_token_scores": True}
    (asked,) = server.translate(TEXT, decoding_options=wire).translations
    assert asked.hypotheses[0].tokens[-1].piece == "</s>"
    assert "".join(token.text for token in asked.hypotheses[0].tokens).strip() == asked.text


def test_blank_texts_have_no_hypotheses(server: Hosted) -> None:
    wire = {"hypothesis_count": 2, "include_token_scores": True}
    blank, full = server.translate(" \n", "one", decoding_options=wire).translations
    assert (blank.text, len(blank.hypotheses)) == (" \n", 0)
    assert len(full.hypotheses) == 2


def test_beams_are_counted_as_rows_and_nothing_is_left(server: Hosted) -> None:
    before = server.metric("dragoman_batch_rows_sum"), server.metric("dragoman_batch_rows_count")
    server.translate(TEXT, decoding_options={"beam_size": 8, "hypothesis_count": 8})
    after = server.metric("dragoman_batch_rows_sum"), server.metric("dragoman_batch_rows_count")
    assert after[0] - before[0] > 4 * (after[1] - before[1])
    server.assert_at_rest()
    created = server.metric("dragoman_slots_created_total")
    assert created == server.metric("dragoman_slots_released_total")


OUT_OF_BOUNDS: list[tuple[Wire, str, str]] = [
    ({"beam_size": 0}, "beam_size", "is 0; it must be 1 to 16"),
    ({"beam_size": 17}, "beam_size", "is 17; it must be 1 to 16"),
    ({"beam_size": 2, "sampling": {}}, "beam_size", "1 with sampling"),
    ({"hypothesis_count": 0}, "hypothesis_count", "is 0; it must be 1 to 4"),
    ({"hypothesis_count": 5}, "hypothesis_count", "is 5; it must be 1 to 4"),
    ({"hypothesis_count": 17, "sampling": {}}, "hypothesis_count", "is 17; it must be 1 to 16"),
    ({"length_penalty": 2.1}, "length_penalty", "is 2.1; it must be -2 to 2"),
    ({"length_penalty": float("nan")}, "length_penalty", "is nan; it must be -2 to 2"),
    ({"patience": -0.5}, "patience", "is -0.5; it must be 0 to 100"),
    ({"patience": float("nan")}, "patience", "is nan; it must be 0 to 100"),
    ({"pruning_margin": 101}, "pruning_margin", "is 101.0; it must be 0 to 100"),
    ({"sampling": {"temperature": 0}}, "sampling.temperature", "is 0.0; it must be 0.01 to 10"),
    ({"sampling": {"temperature": 11}}, "sampling.temperature", "0.01 to 10"),
    ({"sampling": {"top_k": -1}}, "sampling.top_k", "0 to 1000"),
    ({"sampling": {"top_k": 1001}}, "sampling.top_k", "0 to 1000"),
    ({"sampling": {"top_p": 0}}, "sampling.top_p", "above 0, at most 1"),
    ({"sampling": {"top_p": 1.01}}, "sampling.top_p", "above 0, at most 1"),
    ({"sampling": {"min_p": -0.1}}, "sampling.min_p", "0 to below 1"),
    ({"sampling": {"min_p": 1}}, "sampling.min_p", "0 to below 1"),
    ({"sampling": {"sample_count": 0}}, "sampling.sample_count", "1 to 16"),
    ({"sampling": {"sample_count": 17}}, "sampling.sample_count", "1 to 16"),
    ({"repetition_penalty": 0}, "repetition_penalty", "0.1 to 10"),
    ({"repetition_penalty": 10.5}, "repetition_penalty", "0.1 to 10"),
    ({"no_repeat_ngram_size": -1}, "no_repeat_ngram_size", "0 to 10"),
    ({"no_repeat_ngram_size": 11}, "no_repeat_ngram_size", "0 to 10"),
    ({"min_output_token_count": -1}, "min_output_token_count", "0 to"),
    ({"min_output_token_count": 9, "max_output_token_count": 8}, "min_output_token_count", "to 8"),
    ({"suppressed_token_ids": [5] * 1001}, "suppressed_token_ids", "at most 1000"),
    ({"suppressed_token_ids": [5, -1]}, "suppressed_token_ids[1]", "is -1; it must be 0 to"),
    ({"suppressed_token_ids": [5, 9999]}, "suppressed_token_ids[1]", "is 9999; it must be 0 to"),
    ({"prefix_bias": 0.5}, "prefix_bias", "without a target prefix"),
    ({"prefix_bias": 1}, "prefix_bias", "0 to below 1"),
    ({"alternative_count": -1}, "alternative_count", "0 to 32"),
    ({"alternative_count": 33}, "alternative_count", "0 to 32"),
    ({"alternative_count": 2, "hypothesis_count": 2}, "hypothesis_count", "1 with alternatives"),
    (
        {"alternative_count": 2, "sampling": {"sample_count": 2}},
        "sampling.sample_count",
        "1 with alternatives",
    ),
    ({"terms": [{"source": "a", "targets": ["b"]}] * 65}, "terms", "65 items"),
    ({"terms": [{"source": " ", "targets": ["b"]}]}, "terms[0].source", "is blank"),
    ({"terms": [{"source": "a\nb", "targets": ["b"]}]}, "terms[0].source", "is several lines"),
    ({"terms": [{"source": "a" * 257, "targets": ["b"]}]}, "terms[0].source", "257 characters"),
    ({"terms": [{"source": "a"}]}, "terms[0].targets", "is 0 items; it must be 1 to 8 items"),
    ({"terms": [{"source": "a", "targets": ["b"] * 9}]}, "terms[0].targets", "is 9 items"),
    ({"terms": [{"source": "a", "targets": ["b", ""]}]}, "terms[0].targets[1]", "is blank"),
    ({"terms": [{"source": "a", "targets": ["b"], "mode": 9}]}, "terms[0].mode", "a TermMode"),
    (
        {
            "terms": [
                {"source": "a", "targets": ["b"]},
                {"source": "a", "targets": ["b"], "mode": 2, "bonus": 11},
            ]
        },
        "terms[1].bonus",
        "is 11.0; it must be 0 to 10",
    ),
    (
        {"terms": [{"source": "a", "targets": ["b"], "bonus": 1}]},
        "terms[0].bonus",
        "absent with a hard term",
    ),
    (
        {
            "terms": [
                {"source": "a", "targets": ["b"]},
                {"source": "a", "targets": ["q x z " * 40]},
            ]
        },
        "terms[1].targets",
        "tokens each",
    ),
    (
        {"terms": [{"source": "one", "targets": ["sieben acht"]}], "max_output_token_count": 2},
        "terms",
        "tokens of hard terms",
    ),
    ({"terms": [{"source": "a", "targets": ["b"]}], "beam_size": 1}, "beam_size", "hard terms"),
    ({"terms": [{"source": "a", "targets": ["b"]}], "sampling": {}}, "beam_size", "hard terms"),
]


@pytest.mark.parametrize(("wire", "field", "message"), OUT_OF_BOUNDS)
def test_what_is_out_of_bounds_is_named(
    server: Hosted, wire: Wire, field: str, message: str
) -> None:
    steps = server.steps_at_rest()
    refusals = (
        failure(lambda: server.translate("one", decoding_options=wire)),
        failure(lambda: server.stream("one", decoding_options=wire)),
    )
    for refused in refusals:
        assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
        ((name, description),) = refused.violations
        assert name == f"decoding_options.{field}"
        assert message in description
        assert description.startswith(f"{name} is ")
    assert server.engine.statistics().steps == steps


def test_terms_of_one_line_must_fit_together(server: Hosted) -> None:
    words = ("one", "two", "three", "four", "five", "six", "seven")
    terms = [{"source": word, "targets": ["sieben acht"]} for word in words]
    wire = {"terms": terms, "max_output_token_count": 10}
    (translation,) = server.translate("\n".join(words), decoding_options=wire).translations
    assert [result.met_line_count for result in translation.term_results] == [1] * len(words)
    refused = failure(lambda: server.translate(" ".join(words), decoding_options=wire))
    assert refused.violations[0][0] == "decoding_options.terms"


@pytest.mark.parametrize(
    ("wire", "option"),
    [
        ({"hypothesis_count": 2}, "hypothesis_count"),
        ({"alternative_count": 2}, "alternative_count"),
        ({"include_token_scores": True}, "include_token_scores"),
    ],
)
def test_what_is_for_single_lines_says_so(server: Hosted, wire: Wire, option: str) -> None:
    refused = failure(lambda: server.translate("one", "two\nthree", decoding_options=wire))
    ((field, description),) = refused.violations
    assert field == "contents[1]"
    assert description.endswith(f"2 lines; it must be at most {ONE_LINE}, with {FIELD}.{option}")
    refused = failure(lambda: server.stream("two\nthree", decoding_options=wire))
    assert refused.violations[0][0] == "content"


def slow(bundle: Path, options: EngineOptions, observer: EngineObserver) -> Engine:
    """An engine that takes its time for each step."""
    observed = observer.step

    def step(rows: int, seconds: float) -> None:
        observed(rows, seconds)
        time.sleep(0.05)

    observer.step = step  # type: ignore[method-assign]
    return Engine.load(bundle, options, observer)


def test_the_best_so_far_when_the_deadline_nears(tiny_bundle: Path) -> None:
    wire: Wire = {"min_output_token_count": 62, "finish_at_deadline": True}
    # The deadline is the server's own, so that no answer comes too late for its client.
    with hosted(config(tiny_bundle, default_deadline_seconds=1), slow) as server:
        request = translation_pb2.TranslateTextRequest(contents=[TEXT], decoding_options=wire)
        response = server.translation.TranslateText(request)
        (translation,) = response.translations
        assert translation.finish_reason == translation_pb2.FINISH_REASON_DEADLINE
        assert translation.text
        assert translation.usage.target_token_count < 40
        streamed = translation_pb2.StreamTranslateTextRequest(content=TEXT, decoding_options=wire)
        messages = list(server.translation.StreamTranslateText(streamed))
        summary = messages[-1].summary
        assert summary.finish_reason == translation_pb2.FINISH_REASON_DEADLINE
        text = "".join(message.text_delta for message in messages)
        assert text == summary.hypotheses[0].text
        assert server.metric("dragoman_finished_total", reason="deadline") == 2
        request.decoding_options.finish_at_deadline = False
        refused = failure(lambda: server.translation.TranslateText(request))
        assert refused.code == "DEADLINE_EXCEEDED"
        server.assert_at_rest()


def test_lines_that_the_deadline_meets_unbegun_are_empty(tiny_bundle: Path) -> None:
    wire: Wire = {"min_output_token_count": 62, "finish_at_deadline": True, "beam_size": 1}
    settings = config(tiny_bundle, default_deadline_seconds=1, max_rows=2)
    with hosted(settings, slow) as server:
        request = translation_pb2.TranslateTextRequest(
            contents=["one\n" * 12, "two", ""], decoding_options=wire
        )
        document, line, blank = server.translation.TranslateText(request).translations
        assert document.finish_reason == translation_pb2.FINISH_REASON_DEADLINE
        lines = document.text.split("\n")
        assert len(lines) == 13
        assert all(lines[:2])
        assert not any(lines[2:])
        assert (line.text, line.finish_reason) == ("", translation_pb2.FINISH_REASON_DEADLINE)
        assert blank.finish_reason == translation_pb2.FINISH_REASON_EMPTY
        server.assert_at_rest()


def test_nothing_at_all_by_the_deadline_is_a_failure(tiny_bundle: Path) -> None:
    wire: Wire = {"finish_at_deadline": True}
    with hosted(config(tiny_bundle, default_deadline_seconds=0.01)) as server:
        request = translation_pb2.TranslateTextRequest(contents=["a\nb"], decoding_options=wire)
        refused = failure(lambda: server.translation.TranslateText(request))
        assert refused.code == "DEADLINE_EXCEEDED"
        streamed = translation_pb2.StreamTranslateTextRequest(content="a", decoding_options=wire)
        refused = failure(lambda: list(server.translation.StreamTranslateText(streamed)))
        assert refused.code == "DEADLINE_EXCEEDED"
        server.assert_at_rest()


@pytest.mark.parametrize(("beam_size", "rows", "expected"), [(1, 8, 1), (3, 8, 3), (4, 2, 2)])
def test_the_default_beam_is_a_setting(
    tiny_bundle: Path, beam_size: int, rows: int, expected: int
) -> None:
    with hosted(config(tiny_bundle, default_beam_size=beam_size, max_rows=rows)) as server:
        check_equal(server, {}, DecodingOptions(beam_size=expected))
        wire = {"hypothesis_count": 17}
        refused = failure(lambda: server.translate("one", decoding_options=wire))
        assert f"it must be 1 to {expected}" in refused.message
