"""Help pages as blocks: Mallard, DocBook and HTML, read by what their tags mean."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from dragoman.corpus.blocks import HEADING, Block

_KINDS = {
    "h1": HEADING, "h2": HEADING, "h3": HEADING, "h4": HEADING, "h5": HEADING, "h6": HEADING,
    "p": "p", "para": "p", "simpara": "p", "li": "p", "item": "p", "dd": "p", "listitem": "p",
    "td": "cell", "th": "cell", "entry": "cell", "dt": "term", "term": "term", "desc": "p",
    "caption": "caption", "figcaption": "caption", "div": "p", "blockquote": "p", "note": "p",
    "section": "p", "table": "p", "ul": "p", "ol": "p", "steps": "p", "list": "p", "tr": "p",
    "refpurpose": "p", "body": "p", "html": "p", "br": "p", "head": "p", "dl": "p",
}  # fmt: skip
_TITLES = {"title", "subtitle"}
_LISTINGS = {
    "pre", "screen", "programlisting", "script", "style", "listing", "synopsis", "literallayout",
}  # fmt: skip
_SKIPPED = {
    "info", "bookinfo", "articleinfo", "indexterm", "remark", "comment", "svg", "nav", "header",
    "footer", "button", "noscript",
}  # fmt: skip
_MISSING = "???"
"""What DocBook's stylesheets write where a text is missing."""


def read_markup(content: bytes) -> list[Block]:
    """Return the blocks of a page; a block with an entity that only its book defines is blank."""
    reader = _Reader()
    try:
        reader.feed(_decode(content))
        reader.close()
    except AssertionError:  # how the library refuses a malformed declaration
        return []
    return reader.finish()


def _decode(content: bytes) -> str:
    declared = re.search(rb"(?:charset|encoding)\s*=\s*[\"']?([\w-]+)", content[:2000])
    for encoding in ([declared[1].decode()] if declared else []) + ["utf-8"]:
        try:
            return content.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    return content.decode("latin-1")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._kind = "p"
        self._hidden: list[str] = []
        self._unknown = False

    def finish(self) -> list[Block]:
        self._flush("p")
        return self._blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _LISTINGS or tag in _SKIPPED:
            if tag in _LISTINGS and not self._hidden:
                self._flush("p")
                self._blocks.append(Block("listing", ""))
            self._hidden.append(tag)
        elif tag in _KINDS:
            self._flush(_KINDS[tag])
        elif tag in _TITLES:
            self._flush(HEADING)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _KINDS:
            self._flush("p")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass
        elif tag in _KINDS or tag in _TITLES:
            self._flush("p")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._parts.append(data)

    def handle_charref(self, name: str) -> None:
        self.handle_data(unescape(f"&#{name};"))

    def handle_entityref(self, name: str) -> None:
        text = unescape(f"&{name};")
        self._unknown = self._unknown or text.startswith(f"&{name}")
        self.handle_data(text)

    def _flush(self, kind: str) -> None:
        text = " ".join("".join(self._parts).split())
        if text:
            unusable = self._unknown or _MISSING in text
            self._blocks.append(Block(self._kind, "" if unusable else text))
        self._parts, self._kind, self._unknown = [], kind, False
