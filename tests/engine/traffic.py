"""Requests of many kinds, made from number words."""

from __future__ import annotations

import random

from dragoman.engine import DecodingOptions, Engine, NextTokenRequest, Prefix, TranslationRequest
from tests import number_words
from tests.engine.calls import Request


def translations(engine: Engine, count: int, *, seed: int = 0) -> list[TranslationRequest]:
    """Plain translations of held-out numbers."""
    _, held_out = number_words.split()
    numbers = random.Random(seed).sample(held_out, count)
    encode = engine.tokenizer.encode_source
    return [TranslationRequest(encode(number_words.english(number))) for number in numbers]


def mixed_requests(engine: Engine, count: int, *, seed: int = 0) -> list[Request]:
    """Translations and next-token requests, short and long, with and without prefixes."""
    choice = random.Random(seed)
    return [_mixed_request(engine, choice) for _ in range(count)]


def _mixed_request(engine: Engine, choice: random.Random) -> Request:
    words = [number_words.english(choice.randrange(10_000)) for _ in range(choice.randrange(1, 4))]
    longest = engine.limits.max_source_tokens
    source = engine.tokenizer.encode_source(" ".join(words))[-longest:]
    kind = choice.randrange(5)
    if kind == 0:
        return NextTokenRequest(
            source,
            tuple(_prefix(engine, choice) for _ in range(choice.randrange(1, 7))),
            top_k=choice.choice([1, 5, 20, 100]),
            queried_ids=tuple(choice.randrange(4, 200) for _ in range(3)),
        )
    if kind == 1:
        prefix = _prefix(engine, choice)
        return TranslationRequest(source, prefix.ids, prefix.starts_new_word)
    wanted = choice.choice([None, 1, 7, 30])
    return TranslationRequest(source, options=DecodingOptions(max_output_tokens=wanted))


def _prefix(engine: Engine, choice: random.Random) -> Prefix:
    ids = engine.tokenizer.encode(number_words.german(choice.randrange(10_000)))
    return Prefix(ids[: choice.randrange(8)], starts_new_word=choice.random() < 0.3)
