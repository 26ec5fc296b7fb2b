"""gettext catalogues, compiled (.mo) or not (.po): message by message, plural forms too."""

from __future__ import annotations

import gettext
import re
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import polib

NO_TEXTS = {"translator-credits", "translator_credits", "your names", "your emails"}
"""Messages that ask a translator for something about the translator."""

_CONTEXT = re.compile(r"[\w .:/-]{2,40}([|^])(?=\S)")
_FAILURES = (OSError, ValueError, LookupError, struct.error, AttributeError, TypeError)


def read_catalogue(name: str, content: bytes) -> list[tuple[str, str]] | None:
    """Return (message, translation) of all that is translated and not fuzzy.

    A singular goes with the form for one, a plural with the form for five. None: the catalogue
    cannot be read.

    Args:
        name: Decides by its end: ".po", or else a compiled catalogue.
        content: The file.
    """
    with tempfile.NamedTemporaryFile(suffix=Path(name).suffix) as file:
        file.write(content)
        file.flush()
        try:
            open_catalogue = polib.pofile if name.endswith(".po") else polib.mofile
            catalogue = open_catalogue(file.name)
            form = _plural_form(catalogue.metadata.get("Plural-Forms", ""))
            return [pair for entry in catalogue if _usable(entry) for pair in _texts(entry, form)]
        except _FAILURES:
            return None


def _usable(entry: polib.POEntry | polib.MOEntry) -> bool:
    obsolete = isinstance(entry, polib.POEntry) and (entry.obsolete or entry.fuzzy)
    return not obsolete and entry.msgid.strip().lower() not in NO_TEXTS


def _texts(
    entry: polib.POEntry | polib.MOEntry, form: Callable[[int], int]
) -> Iterator[tuple[str, str]]:
    if entry.msgid_plural:
        forms = {int(index): text for index, text in entry.msgstr_plural.items()}
        one, many = form(1), form(5)
        if one != many and forms.get(one):
            yield entry.msgid, forms[one]
        if forms.get(many):
            yield entry.msgid_plural, forms[many]
    elif entry.msgstr:
        yield without_context(entry.msgid, entry.msgstr), entry.msgstr


def without_context(source: str, target: str) -> str:
    """Drop what older catalogues write before a message to tell it from others, as "Menu|Open"."""
    if source.startswith("_:") and "\n" in source:
        return source.partition("\n")[2]
    match = _CONTEXT.match(source)
    return source[match.end() :] if match and match[1] not in target else source


def _plural_form(header: str) -> Callable[[int], int]:
    match = re.search(r"plural=([^;]+)", header.replace(" ", ""))
    try:
        return gettext.c2py(match[1] if match else "n!=1")
    except ValueError:
        return lambda n: int(n != 1)
