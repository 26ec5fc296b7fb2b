"""The answers are right: a trained model translates number words."""

from __future__ import annotations

from dragoman.engine import (
    FinishReason,
    NextTokenPrediction,
    NextTokenRequest,
    Prefix,
    TranslationRequest,
)
from tests import number_words
from tests.engine.calls import Load, Solo, answers
from tests.engine.traffic import translations


def test_held_out_numbers_are_translated(load: Load) -> None:
    engine = load()
    engine.start()
    _, held_out = number_words.split()
    numbers = held_out[:200]
    decode = engine.tokenizer.decode
    requests = [
        TranslationRequest(engine.tokenizer.encode_source(number_words.english(number)))
        for number in numbers
    ]
    results = [hypothesis for [hypothesis] in answers(engine, requests)]
    right = [
        decode(hypothesis.token_ids) == number_words.german(number)  # type: ignore[union-attr]
        for hypothesis, number in zip(results, numbers, strict=True)
    ]
    assert sum(right) >= 0.97 * len(numbers)


def predict(solo: Solo, source: tuple[int, ...], prefix: Prefix, top_k: int) -> NextTokenPrediction:
    queried = tuple(range(4, 24))
    [prediction] = solo.answer(NextTokenRequest(source, (prefix,), top_k, queried))
    assert isinstance(prediction, NextTokenPrediction)
    return prediction


def test_next_token_predictions_follow_the_translation(solo: Solo) -> None:
    """After each prefix of an output the first candidate is the output's next token."""
    for request in translations(solo.engine, 5):
        hypothesis = solo.translate(request)
        tokens = (*hypothesis.token_ids, solo.engine.bundle.tokens.eos)
        for position, token in enumerate(tokens):
            prefix = Prefix(hypothesis.token_ids[:position])
            best = predict(solo, request.source_ids, prefix, 3).candidates[0]
            assert best.token_id == token
            assert best.log_probability == hypothesis.log_probabilities[position]


def test_a_forced_prefix_stays_and_the_rest_follows(solo: Solo) -> None:
    for request in translations(solo.engine, 5):
        free = solo.translate(request)
        for length in range(len(free.token_ids)):
            prefix = free.token_ids[:length]
            forced = solo.translate(TranslationRequest(request.source_ids, prefix))
            assert forced == free


def test_another_prefix_is_kept_too(solo: Solo) -> None:
    [request] = translations(solo.engine, 1)
    prefix = solo.engine.tokenizer.encode("neun")
    forced = solo.translate(TranslationRequest(request.source_ids, prefix))
    assert forced.token_ids[: len(prefix)] == prefix
    assert len(forced.token_ids) > len(prefix)
    assert len(forced.log_probabilities) == len(forced.token_ids) + 1
    assert forced.finish_reason is FinishReason.STOP


def test_a_new_word_begins_where_one_is_asked_for(solo: Solo) -> None:
    [request] = translations(solo.engine, 1)
    tokenizer = solo.engine.tokenizer
    prefix = tokenizer.encode_prefix("neun ")
    assert prefix.starts_new_word
    forced = solo.translate(
        TranslationRequest(request.source_ids, prefix.ids, prefix.starts_new_word)
    )
    assert tokenizer.starts_word(forced.token_ids[len(prefix.ids)])
    prediction = predict(solo, request.source_ids, prefix, 5)
    assert all(tokenizer.starts_word(item.token_id) for item in prediction.candidates)
    assert prediction.candidates[0].token_id == forced.token_ids[len(prefix.ids)]


def test_candidates_and_queried_tokens_agree(solo: Solo) -> None:
    [request] = translations(solo.engine, 1)
    prediction = predict(solo, request.source_ids, Prefix(), 100)
    values = [candidate.log_probability for candidate in prediction.candidates]
    assert values == sorted(values, reverse=True)
    ranks = {item.token_id: place for place, item in enumerate(prediction.candidates, 1)}
    for token in prediction.queried:
        assert token.rank == ranks.get(token.token_id, token.rank)
        assert token.rank > 100 or token.token_id in ranks
    assert 0 <= prediction.entropy < 6


def test_an_output_never_goes_on_after_its_end(solo: Solo) -> None:
    eos = solo.engine.bundle.tokens.eos
    for request in translations(solo.engine, 20):
        hypothesis = solo.translate(request)
        assert hypothesis.finish_reason is FinishReason.STOP
        assert eos not in hypothesis.token_ids
        assert len(hypothesis.log_probabilities) == len(hypothesis.token_ids) + 1
        assert max(hypothesis.log_probabilities) <= 0
