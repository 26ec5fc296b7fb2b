"""Manual pages as blocks: the man macros, as far as prose needs them."""

from __future__ import annotations

import re

from dragoman.corpus.blocks import HEADING, Block
from dragoman.corpus.roff_text import plain, words

_PARAGRAPH = {"PP", "P", "LP", "HP", "RS", "RE", "sp", "Sp", "br"}
_ALTERNATING = {"BR", "BI", "RB", "RI", "IR", "IB", "SB"}
_FONTS = {"B", "I", "R", "SM"} | _ALTERNATING
_VERBATIM = {"nf": "fi", "EX": "EE", "Vb": "Ve", "TS": "TE", "EQ": "EN"}


def read_page(content: bytes) -> list[Block]:
    """Return the blocks of a manual page; none of a page in the mdoc macros, or of a mere link."""
    page = _Page()
    for line in _decode(content).splitlines():
        page.take(line)
    return page.blocks()


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


class _Page:
    """Takes a page line by line."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._kind = "paragraph"
        self._next_kind = ""
        self._verbatim_end = ""
        self._depth = 0
        self._begun = False

    def blocks(self) -> list[Block]:
        """Finish and return what was found."""
        self._flush("paragraph")
        return self._blocks

    def take(self, line: str) -> None:
        """Take the next line."""
        if self._skipped(line):
            return
        macro, rest = _macro(line)
        if not macro:
            self._text(plain(line))
        elif macro in _FONTS:
            separator = "" if macro in _ALTERNATING else " "
            self._text(separator.join(words(rest)))
        elif macro == "MR":
            name, section, *after = [*words(rest), "", ""]
            self._text(f"{name}({section}){''.join(after)}")
        else:
            self._control(macro, rest)

    def _skipped(self, line: str) -> bool:
        """Tell whether a line is none of the prose, and keep track of where we are."""
        macro, _ = _macro(line)
        if self._verbatim_end or self._depth:
            self._depth += line.count(r"\{") - line.count(r"\}")
            if macro == self._verbatim_end:
                self._verbatim_end = ""
            return True
        if macro in {"if", "ie", "el", "de", "am", "ig"}:
            self._depth = line.count(r"\{") - line.count(r"\}")
            self._verbatim_end = "." if macro in {"de", "am", "ig"} else ""
            return True
        self._begun = self._begun or macro == "TH"
        return not self._begun or line.startswith(("'", '.\\"', "...")) or macro == "TH"

    def _control(self, macro: str, rest: str) -> None:
        arguments = words(rest)
        if macro in {"SH", "SS"}:
            self._flush(HEADING if macro == "SH" else f"{HEADING}2", then="paragraph")
            if arguments:
                self._parts, self._next_kind = [" ".join(arguments)], ""
                self._flush("paragraph")
        elif macro in {"TP", "TQ"}:
            self._flush("term", then="paragraph")
        elif macro in {"IP", "Ip"}:
            self._flush("paragraph")
            self._blocks += [Block("term", argument) for argument in arguments[:1]]
        elif macro in _VERBATIM:
            self._flush("paragraph")
            self._blocks.append(Block("verbatim", ""))
            self._verbatim_end = _VERBATIM[macro]
        elif macro in _PARAGRAPH:
            self._flush("paragraph")

    def _text(self, text: str) -> None:
        if not text.strip():
            if not self._next_kind:
                self._flush("paragraph")
            return
        self._parts.append(text)
        if self._next_kind:
            self._flush(self._next_kind)

    def _flush(self, kind: str, then: str = "") -> None:
        """End the block at hand; the next is of `kind`, for one line only if `then` follows."""
        text = " ".join(" ".join(self._parts).split())
        if text:
            self._blocks.append(Block(self._kind, text))
        self._parts, self._kind, self._next_kind = [], kind, then


def _macro(line: str) -> tuple[str, str]:
    match = re.match(r"[.']\s*(\.|\w+)\s*(.*)", line)
    return (match[1], match[2]) if match else ("", "")
