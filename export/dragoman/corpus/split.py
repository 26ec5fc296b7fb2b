"""Setting whole documents apart for development and test."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from dragoman.corpus.pair import DOMAINS, Pair

LARGEST = 0.25
"""Share of a domain that a document may have to be cut for a quota."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How much is held out of each domain.

    Attributes:
        pairs: At most so many pairs.
        share: At most this share of the domain's pairs.
    """

    pairs: int
    share: float


TEST = Quota(800, 0.03)
DEV = Quota(500, 0.02)


@dataclass(frozen=True, slots=True)
class Split:
    """The corpus in parts that share no document, but for what is left out.

    Attributes:
        train: What is trained on.
        dev: What is watched while training.
        test: What is measured in the end.
        left_out: The rest of documents that were cut.
    """

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    left_out: list[Pair]


def split(pairs: Sequence[Pair], dev: Quota = DEV, test: Quota = TEST) -> Split:
    """Hold out whole documents of each domain until the quotas are full.

    Documents are taken in the order of a hash of their names, those that do not fit are passed
    over; so the choice depends on which documents there are and on nothing else. Where none fits,
    as in a small sample, the smallest is taken and cut: its first pairs fill the quota, the others
    are left out.
    """
    held: dict[str, tuple[str, int]] = {}
    for sizes in _sizes(pairs):
        held |= _held_out(sizes, {"test": test, "dev": dev})
    parts: dict[str, list[Pair]] = {name: [] for name in Split.__slots__}
    taken: Counter[str] = Counter()
    for pair in pairs:
        part, limit = held.get(pair.document, ("train", len(pairs)))
        taken[pair.document] += 1
        parts[part if taken[pair.document] <= limit else "left_out"].append(pair)
    return Split(**parts)


def _sizes(pairs: Sequence[Pair]) -> list[Counter[str]]:
    """Return pairs by document for each domain."""
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        sizes[pair.domain][pair.document] += 1
    return [sizes[domain] for domain in dict.fromkeys(DOMAINS.values())]


def _held_out(sizes: Counter[str], quotas: dict[str, Quota]) -> dict[str, tuple[str, int]]:
    """Return {document: (part, how many of its pairs)}."""
    total = sizes.total()
    room = {part: min(quota.pairs, int(quota.share * total)) for part, quota in quotas.items()}
    held: dict[str, tuple[str, int]] = {}
    for document in sorted(sizes, key=_hash):
        part = next((part for part, left in room.items() if sizes[document] <= left), None)
        if part is not None:
            room[part] -= sizes[document]
            held[document] = (part, sizes[document])
    filled = {part for part, _ in held.values()}
    for part in (part for part in quotas if part not in filled):
        rest = [name for name in sizes if name not in held and sizes[name] <= LARGEST * total]
        if rest and room[part]:
            held[min(rest, key=lambda name: (sizes[name], name))] = (part, room[part])
    return held


def _hash(document: str) -> bytes:
    return sha256(document.encode()).digest()
