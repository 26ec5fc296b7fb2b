"""What `translate` and `stream` may be told about decoding, besides single numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Draw translations by chance, instead of searching for the most probable one.

    The first four narrow the distribution of each token, one after the other; None leaves the
    server's default, which changes nothing.

    Attributes:
        temperature: 0.01 to 10; below 1 sharpens the distribution, above 1 flattens it.
            Default: 1.
        top_k: only so many of the most probable tokens, 0 to 1000; 0 means all. Default: 0.
        top_p: only the fewest most probable tokens whose probabilities reach this sum; more than
            0, at most 1. Default: 1, all.
        min_p: only tokens at least this many times as probable as the most probable one; at least
            0, less than 1. Default: 0, all.
        sample_count: outputs that are drawn for each line, 1 to 16; those with the best scores
            are returned. Default: `hypothesis_count`.
        seed: 64-bit integer; the same one draws the same samples, whatever else the server does.
            Default: one that the server draws; `Translation.seed` tells it.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    sample_count: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """How to word something: lines that contain the source are translated with the target.

    Attributes:
        source: words of the source, a single line of at most 256 characters; found where they are
            whole words.
        target: the wording, a single line of at most 256 characters; or a tuple of up to 8 of
            which one will do, for example the forms of a word.
        hard: whether the translation must contain it, which needs a `beam_size` of 2 or more;
            otherwise it is preferred.
        bonus: of a term that is not hard: nats added to the score for each token of it, 0 to 10.
            Default: 1.
        match_case: whether upper and lower case must agree for the source to be found.
    """

    source: str
    target: str | tuple[str, ...]
    hard: bool = True
    bonus: float | None = None
    match_case: bool = False
