"""Translation requests with every decoding option, alone and together."""

from __future__ import annotations

import random
from typing import Any

from dragoman.engine import (
    DecodingOptions,
    Engine,
    Prefix,
    SamplingOptions,
    Term,
    TranslationRequest,
)
from tests import number_words
from tests.engine.calls import Request
from tests.engine.traffic import mixed_requests


def decoding_requests(engine: Engine, count: int, *, seed: int = 0) -> list[Request]:
    """Requests of all kinds in random order, a third of them with the plain options."""
    choice = random.Random(seed)
    plain = mixed_requests(engine, count // 3, seed=seed)
    options = [random_request(engine, choice) for _ in range(count - len(plain))]
    return choice.sample([*plain, *options], count)


def random_request(engine: Engine, choice: random.Random) -> TranslationRequest:
    """A translation with some of the options, and perhaps a prefix."""
    number = choice.randrange(10_000)
    source = engine.tokenizer.encode_source(number_words.english(number))
    ids = engine.tokenizer.encode(number_words.german(number))
    prefix = Prefix()
    if choice.random() < 0.3:
        prefix = Prefix(ids[: choice.randrange(6)], choice.random() < 0.2)
    return TranslationRequest(
        source,
        prefix.ids,
        prefix.starts_new_word,
        random_options(choice, ids),
        stream=choice.random() < 0.5,
    )


def random_options(choice: random.Random, ids: tuple[int, ...]) -> DecodingOptions:
    """Options that are within their bounds; `ids` are tokens that terms may be made of."""
    fields: dict[str, Any] = {
        "max_output_tokens": choice.choice([None, None, 20, 40]),
        "length_penalty": choice.choice([-1.0, 0.0, 0.6, 1.0]),
    }
    rare: dict[str, Any] = {
        "repetition_penalty": choice.choice([0.8, 1.5]),
        "no_repeat_ngram_size": choice.choice([1, 2, 3]),
        "min_output_tokens": choice.choice([2, 8]),
        "patience": choice.choice([0.0, 0.5, 2.0]),
        "pruning_margin": choice.choice([0.0, 0.2, 4.0]),
        "suppressed_ids": tuple(choice.sample(range(400), choice.choice([1, 200]))),
    }
    fields |= {name: value for name, value in rare.items() if choice.random() < 0.15}
    if choice.random() < 0.25:
        fields["sampling"] = random_sampling(choice)
    else:
        fields["beam_size"] = choice.choice([1, 2, 4, 5])
        fields["hypothesis_count"] = choice.randint(1, fields["beam_size"])
        if choice.random() < 0.3:
            fields["terms"] = random_terms(choice, ids, hard=fields["beam_size"] > 1)
    one = fields.get("sampling") is None or fields["sampling"].sample_count == 1
    if one and choice.random() < 0.15:
        fields |= {"alternatives": choice.choice([1, 3, 6]), "hypothesis_count": 1}
    elif choice.random() < 0.1:
        fields["prefix_bias"] = choice.choice([0.0, 0.5, 0.9])
    return DecodingOptions(**fields)


def random_sampling(choice: random.Random) -> SamplingOptions:
    """Sampling with any of the ways to narrow the distribution."""
    return SamplingOptions(
        temperature=choice.choice([0.5, 1.0, 1.5]),
        top_k=choice.choice([0, 0, 5, 300]),
        top_p=choice.choice([1.0, 0.9]),
        min_p=choice.choice([0.0, 0.05]),
        sample_count=choice.choice([1, 3]),
        seed=choice.randrange(-(2**63), 2**63),
    )


def random_terms(choice: random.Random, ids: tuple[int, ...], *, hard: bool) -> tuple[Term, ...]:
    """One or two wordings cut from a translation."""
    terms = []
    for _ in range(choice.choice([1, 2])):
        begin = choice.randrange(len(ids))
        spelling = ids[begin : begin + choice.choice([1, 2, 3])]
        terms.append(Term((spelling,), hard=hard and choice.random() < 0.6))
    return tuple(terms)
