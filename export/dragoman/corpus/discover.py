"""Finding the packages that hold a language's translations in the archive's lists of files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dragoman.corpus.apt import Archive, Record, read_lines
from dragoman.corpus.locales import Locale
from dragoman.corpus.places import Places
from dragoman.corpus.recipe import Recipe, committed_recipe

MAX_ASKING_BYTES = 3_000_000
"""Larger packages are not fetched for debconf's questions alone."""

FETCH_BYTES = 5_000_000
"""What a package costs beside its size, where packages are ranked."""

Contents = Callable[[], Iterable[tuple[str, str]]]
"""Opens the pairs of (path of a file, packages that hold it, comma-separated with sections)."""


def discover(archive: Archive, source: Locale, target: Locale) -> Recipe:
    """Return the recipe of everything that the archive has for a language.

    Which questions are translated cannot be seen from outside; packages with German ones are taken
    to have others too.

    Raises:
        ArchiveError: The lists cannot be read.
    """

    def contents() -> Iterator[tuple[str, str]]:
        for index in archive.indexes("Contents-deb"):
            yield from read_contents(read_lines(index.path))

    german = committed_recipe("en-de")
    known = german.packages["debconf"] if german else ()
    return Recipe(source, target, group(contents, archive.records(), target, known))


def read_contents(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (path, packages) of each line of a list of files."""
    for line in lines:
        path, _, packages = line.rstrip().rpartition(" ")
        if packages:
            yield path.rstrip(), packages


def group(
    contents: Contents, records: Mapping[str, Record], target: Locale, known: Sequence[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Return package names by group, the most files for their size first.

    A manual or help page counts for the package of its English too; a page without English counts
    for nothing. Packages that ask questions follow, the known ones first, then the smallest.
    """
    files = _files(contents, Places(target))
    groups: dict[str, Counter[str]] = {name: Counter() for name in ("man", "ui", "help", "game")}
    for (origin, _), (translated, english) in files.items():
        if origin == "gettext":
            for name in translated & records.keys():
                groups["game" if records[name].section == "games" else "ui"][name] += 1
        elif translated and english:
            groups[origin].update((translated | english) & records.keys())
    return {
        **{name: _richest_first(count, records) for name, count in groups.items()},
        "debconf": _asking(records, known),
    }


def _asking(records: Mapping[str, Record], known: Sequence[str]) -> tuple[str, ...]:
    asking = {name for name, r in records.items() if r.asks and r.size <= MAX_ASKING_BYTES}
    others = sorted(asking.difference(known), key=lambda name: (records[name].size, name))
    return (*(name for name in known if name in asking), *others)


def _richest_first(count: Counter[str], records: Mapping[str, Record]) -> tuple[str, ...]:
    def poverty(name: str) -> tuple[float, str]:
        return -count[name] / (records[name].size + FETCH_BYTES), name

    return tuple(sorted(count, key=poverty))


def _files(contents: Contents, places: Places) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """Return {(origin, key): (packages of the translation, packages of the English)}."""
    found: dict[tuple[str, str], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for path, packages in contents():
        place = places.find(path)
        if place is not None:
            names = {name.rpartition("/")[2] for name in packages.split(",")}
            found[place.origin, place.key][place.english].update(names)
    return found
