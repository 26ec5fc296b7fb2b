"""Reading packages: every source of texts in one pass over each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dragoman.corpus.blocks import align
from dragoman.corpus.catalogues import read_catalogue
from dragoman.corpus.deb import Control, Member, read_control, read_members
from dragoman.corpus.licences import UNSTATED, licence
from dragoman.corpus.locales import Locale
from dragoman.corpus.markup import read_markup
from dragoman.corpus.pair import Pair
from dragoman.corpus.places import Place, Places
from dragoman.corpus.questions import read_questions
from dragoman.corpus.roff import read_page

_READERS = {"man": read_page, "help": read_markup}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where texts come from: a package, its version and its licence's short name."""

    package: str
    version: str
    licence: str


@dataclass(frozen=True, slots=True)
class _Page:
    content: bytes
    package: str
    source: str


class PackageReader:
    """Reads packages one after another.

    A manual or help page and its English may be in different packages, so these come at the end.

    Attributes:
        notes: What was read and what could not be, counted.
    """

    def __init__(self, target: Locale) -> None:
        """Prepare to read English and one other language."""
        self.notes: Counter[str] = Counter()
        self._target = target
        self._places = Places(target)
        self._pages: dict[tuple[str, str, bool], _Page] = {}
        self._versions: dict[str, str] = {}
        self._licences: dict[str, str] = {}
        self._links: dict[str, str] = {}

    def read(self, path: Path) -> Iterator[Pair]:
        """Yield the pairs of a package's catalogues and questions; keep its pages.

        Raises:
            PackageError: The file is not a Debian package.
            ArchiveError: dpkg-deb is not installed.
        """
        control = read_control(path)
        self._versions[control.package] = control.version
        self.notes["packages read"] += 1
        packages = (control.package,)
        for source, target in read_questions(control.templates, self._target):
            yield Pair(source, target, "debconf", f"debconf:{control.source}", packages)
        papers = f"usr/share/doc/{control.package}"
        own = {papers, f"{papers}/copyright"}
        for member in read_members(path, lambda name: name in own or self._places.find(name)):
            if member.name in own:
                self._keep_licence(control.package, member)
            elif not member.link and (place := self._places.find(member.name)):
                yield from self._take(place, member, control)

    def aligned(self) -> Iterator[Pair]:
        """Yield the pairs of the pages that were found in both languages."""
        for (origin, key, english), page in self._pages.items():
            ours = self._pages.get((origin, key, True))
            if english or ours is None:
                continue
            read = _READERS[origin]
            pairs = align(read(ours.content), read(page.content))
            self.notes[f"{origin} pages {'aligned' if pairs else 'of different structure'}"] += 1
            name = PurePosixPath(key).name
            document = f"man:{name}" if origin == "man" else f"help:{page.source}:{name}"
            packages = tuple(dict.fromkeys((page.package, ours.package)))
            for source, target in pairs:
                yield Pair(source, target, origin, document, packages)

    def provenance(self) -> dict[str, Provenance]:
        """Return where the texts of each package come from."""
        return {
            package: Provenance(package, version, self._licence(package))
            for package, version in self._versions.items()
        }

    def _take(self, place: Place, member: Member, control: Control) -> Iterator[Pair]:
        if place.origin != "gettext":
            key = (place.origin, place.key, place.english)
            page = _Page(member.content, control.package, control.source)
            self._pages.setdefault(key, page)
            return
        messages = read_catalogue(member.name, member.content)
        self.notes["catalogues read" if messages is not None else "catalogues not readable"] += 1
        origin = "games" if control.section == "games" else "gettext"
        for source, target in messages or ():
            yield Pair(source, target, origin, control.source, (control.package,))

    def _keep_licence(self, package: str, member: Member) -> None:
        if member.link:
            self._links[package] = PurePosixPath(member.link).name
        else:
            self._licences[package] = licence(member.content.decode("utf-8", "replace"))

    def _licence(self, package: str) -> str:
        """Return a package's licence, that of the package that its papers link to if need be."""
        if package in self._licences or package not in self._links:
            return self._licences.get(package, UNSTATED)
        other = self._links[package]
        return self._licences.get(other, f"{UNSTATED} of {other}")
