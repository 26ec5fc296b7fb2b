"""Which files of a package hold translations, and where their English stands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dragoman.corpus.locales import ENGLISH_NAMES, Locale

_MAN = re.compile(r"usr/share/man/(?:([^/]+)/)?(man\w+/[^/]+?)\.gz")
_PAGES = (".page", ".docbook", ".html", ".xml", ".xhtml", ".htm")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file belongs.

    Attributes:
        origin: "gettext", "man" or "help".
        key: The same for a file and its English, unique within the origin.
        english: Whether this is the English one.
    """

    origin: str
    key: str
    english: bool


class Places:
    """Tells the files of interest from all others, for one language."""

    def __init__(self, target: Locale) -> None:
        """Prepare the patterns of the language's folders."""
        names = "|".join(map(re.escape, target.folders))
        self._folders = frozenset(target.folders)
        self._catalogue = re.compile(
            rf"(?:.*/)?(?:(?:{names})/LC_MESSAGES/[^/]+\.(?:mo|po)|(?:{names})\.po)"
        )
        english = "|".join(map(re.escape, ENGLISH_NAMES))
        self._help = re.compile(rf"(usr/share/.*?/)({names}|{english})(/.+)")

    def find(self, path: str) -> Place | None:
        """Return the place of a file, None if it is of no interest."""
        if path.endswith((".mo", ".po")):
            return Place("gettext", path, False) if self._catalogue.fullmatch(path) else None
        if path.endswith(".gz"):
            return self._manual(path)
        return self._page(path) if path.endswith(_PAGES) else None

    def _manual(self, path: str) -> Place | None:
        match = _MAN.fullmatch(path)
        if match is None or (match[1] and match[1] not in self._folders):
            return None
        return Place("man", match[2], english=not match[1])

    def _page(self, path: str) -> Place | None:
        match = self._help.fullmatch(path)
        if match is None:
            return None
        return Place("help", f"{match[1]}*{match[3]}", match[2] in ENGLISH_NAMES)
