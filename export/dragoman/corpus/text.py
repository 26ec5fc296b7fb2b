"""Making texts plain: entities, layout, invisible characters, Unicode's one normal form."""

from __future__ import annotations

import re
import unicodedata
from html import unescape

_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{2,6}|#x[0-9A-Fa-f]{2,5});")
_BREAK = re.compile(r"\s*(?:</?(?:p|br|div|li|ul|ol|h[1-6])\b[^<>]*>\s*)+", re.IGNORECASE)
_WRAPPER = re.compile(
    r"</?(?:qt|html|body|head|nobr|center|font|span|markup)\b[^<>]*>", re.IGNORECASE
)
_WHOLE = re.compile(r"<([a-z]+)(?: [^<>]*)?>([^<>]*)</\1>", re.IGNORECASE)
_INVISIBLE = {"Cc", "Cf", "Co", "Cn", "Cs"}
_JOINERS = "\u200c\u200d"
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n(?=[ \t]|[-*•] |\d+[.)] )")


def without_entities(source: str, target: str) -> tuple[str, str]:
    """Resolve HTML's entities, if both texts have some or neither needs them to say "&x;"."""
    if _ENTITY.search(source) or _ENTITY.search(target):
        return unescape(source), unescape(target)
    return source, target


def without_layout(text: str) -> str:
    """Turn tags that only lay out into paragraphs; tags inside a sentence stay."""
    if "<" not in text:
        return text
    return _WRAPPER.sub("", _BREAK.sub("\n\n", text)).strip()


def unwrapped(text: str) -> str:
    """Drop the tags around a whole paragraph, "<b>Open</b>"."""
    while match := _WHOLE.fullmatch(text):
        text = match[2].strip()
    return text


def parts(text: str) -> list[str]:
    """Split a text at blank lines, and before lines that are indented or begin an item."""
    return [
        line
        for paragraph in _PARAGRAPH.split(text)
        for line in _LINE.split(paragraph)
        if line.strip()
    ]


def normal(text: str) -> str:
    """Return the text in NFC on one line, single spaces, without invisible characters."""
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    if spaced.isascii() and spaced.isprintable():
        return spaced
    visible = (c for c in spaced if c in _JOINERS or unicodedata.category(c) not in _INVISIBLE)
    return " ".join("".join(visible).split())
