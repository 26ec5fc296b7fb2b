"""Random texts that every translation leaves as they are: addresses, paths, versions, names."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = "0123456789"
_SCHEMES: Final = ("https://", "https://www.", "http://", "http://www.", "www.", "ftp://", "git://")
_DOMAINS: Final = ("org", "com", "net", "de", "io", "edu", "info", "co.uk", "fr", "eu")
_ENDINGS: Final = ("", "", "", "/", ".html", ".htm", ".php", ".txt", ".pdf", ".tar.gz")
_ROOTS: Final = ("/usr/share/", "/etc/", "/var/lib/", "~/.", "/opt/", "/")
_FRAMES: Final = ("{}", "{}", "{}", "({})", "<{}>")


class VerbatimTexts:
    """Makes such texts out of given words and random letters and digits."""

    def __init__(self, generator: random.Random, words: Sequence[str]) -> None:
        self._generator = generator
        self._words = words
        self._makers: tuple[Callable[[], str], ...] = (
            self._url,
            self._url,
            self._mail,
            self._path,
            self._version,
            self._identifier,
        )

    def make(self) -> str:
        """Return one text, without blanks."""
        text = self._generator.choice(self._makers)()
        return self._generator.choice(_FRAMES).format(text)

    def _url(self) -> str:
        pick = self._generator.choice
        path = "".join(f"/{self._name()}" for _ in range(self._generator.randrange(4)))
        return f"{pick(_SCHEMES)}{self._host()}{path}{pick(_ENDINGS)}"

    def _mail(self) -> str:
        return f"{self._name()}@{self._host()}"

    def _host(self) -> str:
        return f"{self._word()}{self._generator.choice(('', '-', '.'))}{self._tail()}"

    def _tail(self) -> str:
        return f"{self._word()}.{self._generator.choice(_DOMAINS)}"

    def _path(self) -> str:
        pick = self._generator.choice
        return f"{pick(_ROOTS)}{self._name()}/{self._name()}{pick(_ENDINGS)}"

    def _version(self) -> str:
        sizes = (self._generator.randint(1, 4) for _ in range(self._generator.randint(1, 4)))
        return self._generator.choice((".", "-", ":")).join(map(self._digits, sizes))

    def _identifier(self) -> str:
        """A name that nobody would translate; a plain word would teach to leave words alone."""
        if self._generator.random() < 0.5:
            return f"{self._word()}_{self._name()}"
        return f"{self._word()}{self._digits(self._generator.randint(1, 3))}"

    def _name(self) -> str:
        """A word or two, sometimes with a capital or digits, as identifiers have them."""
        name = self._generator.choice(("", "-", "_", "~")).join(
            self._word() for _ in range(self._generator.randint(1, 2))
        )
        form = self._generator.randrange(4)
        if form == 0:
            return name + self._digits(self._generator.randint(1, 3))
        return name.capitalize() if form == 1 else name

    def _word(self) -> str:
        if self._words and self._generator.random() < 0.7:
            return self._generator.choice(self._words)
        return "".join(self._generator.choices(_LETTERS, k=self._generator.randint(2, 6)))

    def _digits(self, count: int) -> str:
        return "".join(self._generator.choices(_DIGITS, k=count))
