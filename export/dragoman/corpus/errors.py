"""What can go wrong while a corpus is built."""

from __future__ import annotations


class CorpusError(Exception):
    """A corpus cannot be built; the message names what is wrong, in one line."""


class RecipeError(CorpusError):
    """A recipe, a list of packages or a pair of languages is not usable."""


class ArchiveError(CorpusError):
    """The package tools are missing or failed."""


class PackageError(CorpusError):
    """A file is not a Debian package, or is broken."""
