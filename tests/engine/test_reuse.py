"""Reused sources and prefixes save work and change nothing, not a bit."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineOptions,
    NextTokenRequest,
    Prefix,
    ScoreRequest,
    TranslationRequest,
)
from tests import number_words
from tests.engine.calls import Answer, Call, Request, answer
from tests.engine.decoding_traffic import random_options
from tests.engine.hand import Hand
from tests.engine.traffic import translations

REQUESTS = 80


@pytest.fixture(scope="module", params=["int8", "fp32"])
def bundle(request: pytest.FixtureRequest, tiny_bundle: Path, tiny_bundle_fp32: Path) -> Path:
    return {"int8": tiny_bundle, "fp32": tiny_bundle_fp32}[request.param]


def started(bundle: Path, sources: int, prefixes: int, threads: int = 1, rows: int = 8) -> Engine:
    options = EngineOptions(
        max_rows=rows,
        decoder_threads=threads,
        encoder_threads=threads,
        source_cache_bytes=sources,
        prefix_cache_bytes=prefixes,
    )
    engine = Engine.load(bundle, options)
    engine.start()
    return engine


def editing(engine: Engine, count: int) -> list[Request]:
    """Requests as editors send them: few sources, prefixes that grow, shrink and branch off."""
    choice = random.Random(12)
    requests: list[Request] = []
    for _ in range(count):
        number = choice.choice([17, 4021, 7777, 9999])
        source = engine.tokenizer.encode_source(number_words.english(number))
        text = engine.tokenizer.encode(number_words.german(choice.choice([number, 7770, 4001])))
        prefix = Prefix(text[: choice.randrange(len(text) + 1)], choice.random() < 0.2)
        kind = choice.randrange(4)
        if kind == 0:
            others = tuple(Prefix(text[:length]) for length in range(choice.randrange(4)))
            requests.append(NextTokenRequest(source, (prefix, *others), top_k=7))
        elif kind == 1:
            requests.append(ScoreRequest(source, (text, prefix.ids), choice.random() < 0.5))
        else:
            options = random_options(choice, text) if kind == 2 else DecodingOptions()
            longest = options.max_output_tokens or 63
            ids = prefix.ids[: longest - 1 - sum(map(len, (text,))) * bool(options.terms)]
            requests.append(
                TranslationRequest(source, ids, prefix.starts_new_word, options, stream=True)
            )
    return requests


@pytest.fixture(scope="module")
def expected(bundle: Path) -> tuple[list[Request], list[Answer]]:
    """What each request gives where nothing is kept and nothing else runs."""
    engine = started(bundle, 0, 0)
    requests = editing(engine, REQUESTS)
    results = [answer(Call(engine, request).result()) for request in requests]
    statistics = engine.statistics()
    assert statistics.source_cache_bytes == statistics.prefix_cache_bytes == 0
    assert statistics.source_cache_hits == statistics.prefix_tokens_reused == 0
    engine.stop()
    return requests, results


@pytest.mark.parametrize(
    ("sources", "prefixes", "threads"),
    [
        (1 << 26, 1 << 25, 1),
        (1 << 26, 1 << 25, 2),
        (0, 1 << 25, 1),
        (1 << 26, 0, 1),
        (9000, 60_000, 1),
    ],
    ids=["both", "two-threads", "prefixes", "sources", "little"],
)
def test_hits_give_the_same_bits_as_misses(
    bundle: Path,
    expected: tuple[list[Request], list[Answer]],
    sources: int,
    prefixes: int,
    threads: int,
) -> None:
    requests, results = expected
    engine = started(bundle, sources, prefixes, threads)
    choice = random.Random(sources + prefixes + threads)
    for _ in range(2):
        calls: dict[int, Call] = {}
        for index in choice.sample(range(REQUESTS), REQUESTS):
            calls[index] = Call(engine, requests[index])
            if choice.random() < 0.1:
                Call(engine, choice.choice(requests)).handle.cancel()
            time.sleep(choice.choice([0.0, 0.0, 0.002, 0.01]))
        for index, request in enumerate(requests):
            assert answer(calls[index].result()) == results[index], request
    engine.stop()
    statistics = engine.statistics()
    assert statistics.slots_created == statistics.slots_released
    assert (statistics.prefix_tokens_reused > 0) is (prefixes > 0)
    assert statistics.source_cache_bytes <= sources
    assert statistics.prefix_cache_bytes <= prefixes


@pytest.fixture
def hand(tiny_bundle: Path) -> Iterator[Hand]:
    hand = Hand(tiny_bundle, reuse=True)
    yield hand
    hand.engine.stop(drain=False)


def answered(hand: Hand, request: Request) -> tuple[Answer, int]:
    """Give the answer of one request and the steps that it took."""
    before = hand.engine.statistics().steps
    [call] = hand.submit(request)
    hand.encode()
    hand.finish(call)
    return answer(call.result()), hand.engine.statistics().steps - before


def test_a_source_is_encoded_once_for_all_kinds_of_requests(hand: Hand) -> None:
    source = translations(hand.engine, 1)[0].source_ids
    for request in (
        TranslationRequest(source),
        NextTokenRequest(source),
        TranslationRequest(source, options=DecodingOptions(beam_size=3)),
    ):
        answered(hand, request)
    answered(hand, ScoreRequest(source, ((10,), (11, 12), ())))
    assert hand.observer.of("encoded") == [(1, len(source))]
    statistics = hand.engine.statistics()
    assert (statistics.source_cache_hits, statistics.source_cache_misses) == (3, 1)
    assert statistics.source_cache_bytes > 0


def test_equal_sources_that_wait_together_are_encoded_once(hand: Hand) -> None:
    one, other = [request.source_ids for request in translations(hand.engine, 2)]
    calls = hand.submit(*[TranslationRequest(source) for source in (one, other, one, one)])
    hand.encode()
    hand.finish(*calls)
    assert sum(count for count, _ in hand.observer.of("encoded")) == 2  # type: ignore[misc]
    assert calls[0].hypothesis() == calls[2].hypothesis() == calls[3].hypothesis()


def test_a_keystroke_costs_one_step_and_backspace_none_but_its_own(hand: Hand) -> None:
    source = translations(hand.engine, 1)[0].source_ids
    [hypothesis], _ = answered(hand, TranslationRequest(source))
    ids = hypothesis.token_ids  # type: ignore[union-attr]

    def type_to(length: int, ids: tuple[int, ...] = ids) -> int:
        return answered(hand, NextTokenRequest(source, (Prefix(ids[:length]),)))[1]

    typed = (*ids[:2], 11, 12, 13, 14)
    assert type_to(len(ids)) == 1
    assert type_to(3) == 1
    assert type_to(6, typed) == 5
    assert type_to(6, typed) == 1
    assert type_to(5, typed) == 1
    assert type_to(6, (*typed, 15, 16)[:8]) == 1
    assert type_to(8, (*typed, 15, 16)) == 3
    statistics = hand.engine.statistics()
    assert statistics.prefix_tokens_computed == 4 + 2
    assert statistics.prefix_tokens_reused == len(ids) + 3 + 2 + 6 + 5 + 6 + 6


@pytest.mark.parametrize(
    "options",
    [
        DecodingOptions(),
        DecodingOptions(beam_size=3),
        DecodingOptions(repetition_penalty=1.1),
        DecodingOptions(alternatives=2),
    ],
    ids=["greedy", "beam", "single", "alternatives"],
)
def test_every_search_goes_on_from_what_is_known(hand: Hand, options: DecodingOptions) -> None:
    request = replace(translations(hand.engine, 1)[0], options=options)
    found, steps = answered(hand, request)
    ids = found[0].token_ids  # type: ignore[union-attr]
    forced = replace(request, prefix_ids=ids[:-1])
    _, fewer = answered(hand, forced)
    assert fewer < steps
    assert hand.engine.statistics().prefix_tokens_reused >= len(ids) - 1


def test_a_request_that_was_given_up_leaves_what_it_had(hand: Hand) -> None:
    source = translations(hand.engine, 1)[0].source_ids
    prefix = (10, 11, 12, 13, 14, 15)
    [call] = hand.submit(TranslationRequest(source, prefix))
    hand.encode()
    hand.step(5)
    call.handle.cancel()
    hand.step()
    assert call.error()
    _, steps = answered(hand, NextTokenRequest(source, (Prefix(prefix),)))
    assert steps == 2
