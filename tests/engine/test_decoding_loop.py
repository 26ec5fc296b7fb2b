"""Beams, samples and alternatives in the step loop, driven by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.engine import (
    DeadlineExceededError,
    DecodingOptions,
    FinishReason,
    Hypothesis,
    NextTokenRequest,
    NextTokenResult,
    NumericsError,
    OnDeadline,
    Prefix,
    RequestCancelledError,
    SamplingOptions,
    Term,
    TranslationRequest,
    TranslationResult,
)
from dragoman.engine.jobs import DEADLINE_MARGIN
from tests.engine.calls import Call
from tests.engine.hand import Hand
from tests.engine.traffic import translations

EOS = 3
BEAM = DecodingOptions(beam_size=4, pruning_margin=0.0)
SAMPLES = DecodingOptions(sampling=SamplingOptions(sample_count=3, seed=4), hypothesis_count=3)


@pytest.fixture
def hand(tiny_bundle: Path) -> Iterator[Hand]:
    hand = Hand(tiny_bundle, max_rows=6)
    yield hand
    hand.engine.stop(drain=False)
    statistics = hand.engine.statistics()
    assert statistics.slots_created == statistics.slots_released
    assert statistics.queued == statistics.pending == statistics.running_rows == 0
    assert hand.engine._registry._scheduler.free_rows == 6


def request_of(hand: Hand, options: DecodingOptions, **fields: Any) -> TranslationRequest:
    [plain] = translations(hand.engine, 1)
    return TranslationRequest(plain.source_ids, options=options, **fields)


def finished(hand: Hand, *requests: TranslationRequest) -> list[tuple[Hypothesis, ...]]:
    calls = hand.submit(*requests)
    hand.encode()
    hand.finish(*calls)
    return [hypotheses(call) for call in calls]


def hypotheses(call: Call) -> tuple[Hypothesis, ...]:
    result = call.result()
    assert isinstance(result, TranslationResult)
    return result.hypotheses


def test_a_beam_begins_with_one_row_and_grows(hand: Hand) -> None:
    [[best]] = finished(hand, request_of(hand, BEAM))
    rows = [count for (count,) in hand.observer.of("step")]
    assert rows[:3] == [1, 4, 4]
    assert len(rows) >= len(best.log_probabilities)
    [[again]] = finished(hand, request_of(hand, BEAM, prefix_ids=best.token_ids[:3]))
    rows = [count for (count,) in hand.observer.of("step")][len(rows) :]
    assert rows[:5] == [1, 1, 1, 1, 4]
    assert again.token_ids[:3] == best.token_ids[:3]


def test_rows_are_set_aside_for_a_beam_from_its_beginning(hand: Hand) -> None:
    beams = hand.submit(*[request_of(hand, BEAM)] * 2)
    [small] = hand.submit(request_of(hand, DecodingOptions(max_output_tokens=1)))
    hand.encode()
    hand.step()
    assert hand.observer.of("step") == [(1,)]
    assert hand.engine._registry._scheduler.free_rows == 2
    hand.finish(*beams, small)
    assert hypotheses(beams[0]) == hypotheses(beams[1])
    assert max(hand.observer.of("step")) <= (6,)


def test_the_observer_hears_of_the_tokens_of_the_best_output(hand: Hand) -> None:
    [[best]] = finished(hand, request_of(hand, BEAM))
    [(reason, tokens, _)] = hand.observer.of("finished")
    assert (reason, tokens) == (FinishReason.STOP, len(best.log_probabilities))


@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_the_finish_reason_is_right_around_the_natural_length(hand: Hand, excess: int) -> None:
    [[natural]] = finished(hand, request_of(hand, BEAM))
    assert natural.finish_reason is FinishReason.STOP
    limit = len(natural.log_probabilities) + excess
    options = replace(BEAM, max_output_tokens=limit)
    [[best]] = finished(hand, request_of(hand, options))
    assert best.token_ids == natural.token_ids[:limit]
    assert best.finish_reason is (FinishReason.LENGTH if excess < 0 else FinishReason.STOP)


def test_a_beam_of_one_equals_greedy(hand: Hand) -> None:
    for request in translations(hand.engine, 5):
        beam = TranslationRequest(request.source_ids, options=DecodingOptions(beam_size=1))
        [one], [greedy] = finished(hand, beam, request)
        assert one == greedy


def test_more_hypotheses_never_change_the_first_ones(hand: Hand) -> None:
    requests = [
        request_of(hand, DecodingOptions(beam_size=5, hypothesis_count=count))
        for count in range(1, 6)
    ]
    found = finished(hand, *requests)
    for count, best in enumerate(found, start=1):
        assert len(best) == count
        assert best == found[-1][:count]
    assert len({hypothesis.token_ids for hypothesis in found[-1]}) == 5


def test_a_cancelled_beam_gives_all_its_rows_back(hand: Hand) -> None:
    beam, other = hand.submit(request_of(hand, BEAM), request_of(hand, DecodingOptions()))
    hand.encode()
    hand.step(3)
    beam.handle.cancel()
    hand.step()
    assert isinstance(beam.error(), RequestCancelledError)
    assert hand.observer.of("step") == [(2,), (5,), (5,), (1,)]
    hand.finish(other)


@pytest.mark.parametrize("place", [0, 3])
def test_one_poisoned_row_of_a_beam_fails_its_request_alone(
    tiny_bundle_fp32: Path, place: int
) -> None:
    hand = Hand(tiny_bundle_fp32, max_rows=8)
    request = request_of(hand, DecodingOptions(beam_size=4, hypothesis_count=4))
    [expected] = finished(hand, request)
    call, other = hand.submit(request, request)
    hand.encode()
    hand.step(3)
    [search] = hand.engine._registry._jobs[call.handle._key].running
    cache = hand.engine._loops[0].rows._cache
    cache.source[:, :, search.rows[place], :, 0] = np.nan
    hand.step()
    assert isinstance(call.error(), NumericsError)
    assert not np.isnan(cache.source).any()
    assert not np.isnan(cache.target).any()
    hand.finish(other)
    assert hypotheses(other) == expected
    hand.engine.stop(drain=False)


def test_samples_are_drawn_by_seed_and_index_alone(hand: Hand) -> None:
    [three] = finished(hand, request_of(hand, SAMPLES))
    alone = DecodingOptions(sampling=SamplingOptions(sample_count=1, seed=4))
    [[first], [again]] = finished(hand, *[request_of(hand, alone)] * 2)
    assert first == again
    assert first in three
    scores = [hypothesis.score for hypothesis in three]
    assert scores == sorted(scores, reverse=True)


def test_alternatives_are_the_next_tokens_in_their_order(hand: Hand) -> None:
    [plain] = translations(hand.engine, 1)
    [call] = hand.submit(NextTokenRequest(plain.source_ids, (Prefix(()),), top_k=6))
    hand.encode()
    hand.finish(call)
    result = call.result()
    assert isinstance(result, NextTokenResult)
    listed = result.predictions[0].candidates
    candidates = [candidate for candidate in listed if candidate.token_id > EOS]
    options = DecodingOptions(beam_size=3, alternatives=len(candidates))
    [found] = finished(hand, request_of(hand, options))
    assert [(hypothesis.token_ids[0], hypothesis.log_probabilities[0]) for hypothesis in found] == [
        (candidate.token_id, candidate.log_probability) for candidate in candidates
    ]
    prefixes = [(candidate.token_id,) for candidate in candidates]
    beams = [request_of(hand, DecodingOptions(beam_size=3), prefix_ids=ids) for ids in prefixes]
    assert finished(hand, *beams) == [(hypothesis,) for hypothesis in found]


@pytest.mark.parametrize(
    "options",
    [BEAM, SAMPLES, DecodingOptions(alternatives=3, beam_size=2)],
    ids=["beam", "samples", "alternatives"],
)
def test_a_stream_gives_the_first_hypothesis(hand: Hand, options: DecodingOptions) -> None:
    [call] = hand.submit(request_of(hand, options, stream=True))
    hand.encode()
    hand.finish(call)
    best = hypotheses(call)[0]
    assert call.committed() == (best.token_ids, best.log_probabilities[: len(best.token_ids)])


def deadline_options(**fields: Any) -> DecodingOptions:
    return DecodingOptions(on_deadline=OnDeadline.BEST, **fields)


@pytest.mark.parametrize(
    "options",
    [
        deadline_options(),
        deadline_options(beam_size=4, hypothesis_count=2),
        deadline_options(sampling=SamplingOptions(sample_count=2), hypothesis_count=2),
        deadline_options(repetition_penalty=1.5),
        deadline_options(beam_size=4, terms=(Term(((40, 41),)),)),
    ],
    ids=["greedy", "beam", "samples", "rules", "terms"],
)
def test_the_best_so_far_is_given_before_the_deadline(hand: Hand, options: DecodingOptions) -> None:
    [call] = hand.submit(request_of(hand, options, deadline=200.0, stream=True))
    hand.encode()
    hand.step(3)
    hand.now = 200.0 - DEADLINE_MARGIN
    hand.step()
    found = hypotheses(call)
    assert len(found) == options.hypothesis_count
    assert {hypothesis.finish_reason for hypothesis in found} == {FinishReason.DEADLINE}
    assert {len(hypothesis.token_ids) for hypothesis in found} == {3}
    assert call.committed()[0] == found[0].token_ids
    assert hand.engine.statistics().running_rows == 0
    assert hand.observer.of("finished")[0][0] is FinishReason.DEADLINE


def test_what_ended_before_the_deadline_stays_what_it_is(hand: Hand) -> None:
    options = deadline_options(beam_size=4, length_penalty=0.0)
    [[whole]] = finished(hand, request_of(hand, options))
    steps = len(hand.observer.of("step"))
    reasons = set()
    for count in range(2, steps):
        [call] = hand.submit(request_of(hand, options, deadline=hand.now + 50))
        hand.encode()
        hand.step(count)
        hand.now += 50
        hand.step()
        [best] = hypotheses(call)
        reasons.add(best.finish_reason)
        ended = best.finish_reason is FinishReason.STOP
        assert len(best.log_probabilities) == len(best.token_ids) + ended
    assert FinishReason.DEADLINE in reasons
    assert whole.finish_reason is FinishReason.STOP


def test_a_deadline_before_the_first_token_fails(hand: Hand) -> None:
    prefix = translations(hand.engine, 1)[0].source_ids[:3]
    early, forced = hand.submit(
        request_of(hand, deadline_options(), deadline=150.0),
        request_of(hand, deadline_options(beam_size=2), prefix_ids=prefix, deadline=200.0),
    )
    hand.now = 150.0
    hand.step()
    hand.encode()
    hand.step(2)
    hand.now = 200.0
    hand.step()
    assert isinstance(early.error(), DeadlineExceededError)
    assert isinstance(forced.error(), DeadlineExceededError)


def test_without_the_option_a_deadline_fails(hand: Hand) -> None:
    [call] = hand.submit(request_of(hand, BEAM, deadline=200.0))
    hand.encode()
    hand.step(3)
    hand.now = 200.0 - DEADLINE_MARGIN
    hand.step()
    assert not call.over
    hand.now = 200.0
    hand.step()
    assert isinstance(call.error(), DeadlineExceededError)


def test_terms_are_told_apart(hand: Hand) -> None:
    [[free]] = finished(hand, request_of(hand, BEAM))
    there, absent = free.token_ids[1:3], (free.token_ids[0], free.token_ids[0])
    terms = (Term((there,)), Term((absent,), hard=False, bonus=0.0))
    [[found]] = finished(hand, request_of(hand, DecodingOptions(beam_size=4, terms=terms)))
    assert found.met_terms == (True, False)
    hard = (Term((absent,)), Term((there,), hard=False))
    [[found]] = finished(hand, request_of(hand, DecodingOptions(beam_size=4, terms=hard)))
    assert found.met_terms[0]
