"""How the archive spells a language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dragoman.corpus.errors import RecipeError

ENGLISH_NAMES = ("C", "en", "en_US", "en-US", "en-us")
"""What folders of English texts are called."""


@dataclass(frozen=True, slots=True)
class Locale:
    """A language, perhaps of one region, as folders and indexes name it.

    Attributes:
        code: BCP-47, "de" or "pt-BR".
    """

    code: str

    @property
    def name(self) -> str:
        """The name of translation indexes and catalogues, "de" or "pt_BR"."""
        return self.code.replace("-", "_")

    @property
    def folders(self) -> tuple[str, ...]:
        """Names of folders that hold this language; "de_DE" is "de", "de_AT" is not."""
        language, _, region = self.code.partition("-")
        own = region or language.upper()
        spellings = (f"{language}_{own}", f"{language}-{own}", f"{language}_{own}.UTF-8")
        return spellings if region else (language, *spellings)


def parse_pair(text: str) -> tuple[Locale, Locale]:
    """Read "en-de" or "en-pt-BR": English, then any other language.

    Raises:
        RecipeError: Not two languages, or the first is not English, which all sources start from.
    """
    source, _, target = text.partition("-")
    if not re.fullmatch(r"[a-z]{2,3}", source) or not re.fullmatch(
        r"[a-z]{2,3}(-([A-Z]{2}|[A-Z][a-z]{3}))?", target
    ):
        raise RecipeError(f"pair: {text!r} must be two language codes, as en-de or en-pt-BR")
    if source != "en" or target == "en":
        raise RecipeError(f"pair: {text!r} must lead from en to another language")
    return Locale(source), Locale(target)
