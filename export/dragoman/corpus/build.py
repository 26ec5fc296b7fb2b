"""The whole walk from packages to a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from dragoman.corpus import language
from dragoman.corpus.cleaning import clean
from dragoman.corpus.descriptions import read_descriptions
from dragoman.corpus.errors import CorpusError, PackageError
from dragoman.corpus.filters import FILTERS, reason_to_drop
from dragoman.corpus.leakage import leaks
from dragoman.corpus.limits import MAX_ALTERNATIVES, few_alternatives, without_doublets
from dragoman.corpus.output import PARTS, write_corpus
from dragoman.corpus.pair import Ledger, Pair
from dragoman.corpus.reader import PackageReader, Provenance
from dragoman.corpus.recipe import Recipe
from dragoman.corpus.split import Split, split
from dragoman.corpus.supply import Supply

Report = Callable[[str], None]

FOUND, SENTENCES, KEPT = "texts found", "sentences", "kept"
_HABITS = ("wrong script", "wrong language", "odd lengths")
_LIMITS = ("doublet", f"over {MAX_ALTERNATIVES} targets", f"over {MAX_ALTERNATIVES} sources")
_CUT = "cut from held out"
_LEAKS = ("source in train", "target in train", "one word from train", "6-grams in train")
STAGES = (FOUND, SENTENCES, *FILTERS, *_HABITS, *_LIMITS, KEPT, _CUT, *_LEAKS, *PARTS)
"""Rows of the table of counts: what came in, what each filter dropped, what stayed."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was built.

    Attributes:
        parts: The pairs.
        ledger: Pairs by stage and origin.
        notes: What was read and what could not be, counted.
    """

    parts: Split
    ledger: Ledger
    notes: Counter[str]


def build(recipe: Recipe, supply: Supply, output: Path, report: Report) -> Corpus:
    """Read the packages, clean, filter, split and write a corpus into a folder.

    Raises:
        CorpusError: Nothing is left, or the package tools fail.
        OSError: A file cannot be read or written.
    """
    ledger = Ledger()
    for stage in STAGES:
        ledger.enter(stage, "", 0)
    reader = PackageReader(recipe.target)
    index = f"Translation-{recipe.target.name}"
    descriptions = supply.descriptions()
    texts = chain(
        read_descriptions(
            descriptions.english, descriptions.translated, descriptions.sources, index
        ),
        _packages(reader, supply, recipe.names(), report),
        reader.aligned(),
    )
    pairs = filtered(texts, ledger)
    if not pairs:
        raise CorpusError("no pair is left: the packages hold no translations into this language")
    parts = held_out(pairs, ledger)
    provenance = reader.provenance()
    provenance[index] = Provenance(index, descriptions.release, "as the packages described")
    notes = reader.notes + supply.notes
    write_corpus(output, parts, provenance, facts(recipe, descriptions.release, ledger, notes))
    return Corpus(parts, ledger, notes)


def filtered(texts: Iterable[Pair], ledger: Ledger) -> list[Pair]:
    """Clean all texts and leave out what is of no use; every decision is entered."""
    pairs = list(_cleaned(texts, ledger))
    habits = language.learn(pairs)
    alike: list[Pair] = []
    for pair in pairs:
        reason = habits.reason_to_drop(pair.source, pair.target)
        if reason is None:
            alike.append(pair)
        else:
            ledger.enter(reason, pair.origin)
    single, seen = without_doublets(alike)
    _enter_lost(ledger, _LIMITS[0], alike, single)
    few = few_alternatives(single, seen, by_target=False)
    _enter_lost(ledger, _LIMITS[1], single, few)
    kept = few_alternatives(few, seen, by_target=True)
    _enter_lost(ledger, _LIMITS[2], few, kept)
    _enter(ledger, KEPT, kept)
    return kept


def held_out(pairs: list[Pair], ledger: Ledger) -> Split:
    """Split by document and drop from dev and test what training, or test, gives away."""
    parts = split(pairs)
    test = _without_leaks(parts.test, parts.train, ledger)
    dev = _without_leaks(parts.dev, [*parts.train, *test], ledger)
    result = Split(parts.train, dev, test, parts.left_out)
    _enter(ledger, _CUT, parts.left_out)
    for name in PARTS:
        _enter(ledger, name, getattr(result, name))
    return result


def facts(recipe: Recipe, release: str, ledger: Ledger, notes: Counter[str]) -> dict[str, object]:
    """Return what corpus.json tells about how a corpus was made."""
    return {
        "source_language_code": recipe.source.code,
        "target_language_code": recipe.target.code,
        "release": release,
        "packages": list(recipe.names()),
        "notes": dict(sorted(notes.items())),
        "counts": ledger.counts(),
    }


def _packages(
    reader: PackageReader, supply: Supply, names: tuple[str, ...], report: Report
) -> Iterator[Pair]:
    for path in supply.packages(names):
        report(path.name)
        try:
            yield from reader.read(path)
        except PackageError as error:
            reader.notes["packages not readable"] += 1
            report(str(error))


def _cleaned(texts: Iterable[Pair], ledger: Ledger) -> Iterator[Pair]:
    for text in texts:
        ledger.enter(FOUND, text.origin)
        for pair in clean(text):
            ledger.enter(SENTENCES, pair.origin)
            reason = reason_to_drop(pair.source, pair.target)
            if reason is None:
                yield pair
            else:
                ledger.enter(reason, pair.origin)


def _without_leaks(pairs: list[Pair], seen: list[Pair], ledger: Ledger) -> list[Pair]:
    found = leaks(pairs, seen)
    for index, reason in found.items():
        ledger.enter(reason, pairs[index].origin)
    return [pair for index, pair in enumerate(pairs) if index not in found]


def _enter(ledger: Ledger, stage: str, pairs: Iterable[Pair]) -> None:
    for pair in pairs:
        ledger.enter(stage, pair.origin)


def _enter_lost(ledger: Ledger, stage: str, before: list[Pair], after: list[Pair]) -> None:
    lost = Counter(pair.origin for pair in before)
    lost.subtract(pair.origin for pair in after)
    for origin, count in lost.items():
        ledger.enter(stage, origin, count)
