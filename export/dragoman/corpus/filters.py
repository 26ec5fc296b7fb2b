"""What is left out pair by pair. Each filter tells whether a pair is to be dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from hashlib import sha256

from dragoman.corpus.placeholders import placeholders, without_placeholders

MAX_CHARACTERS = 600
COPIES_KEPT = 0.03
"""Share of identical pairs that stays: some names and terms are the same in both languages."""

Filter = Callable[[str, str], bool]

_BRACKETS = "()[]{}<>"
_NARROW = str.maketrans("（）［］｛｝＜＞", _BRACKETS)
_SYMBOLS = set("{}[]<>=|\\$#@^`~*_;/+&%")
_PATH = re.compile(
    r"(?:\w:|[~.])?(?:[/\\][^\s/\\]+)+[/\\]?|\S*[^\s/]/[^\s/]+/\S*|[*\w-]*\.[a-z]\w{1,4}|\*\.\S+"
)
_KEY = re.compile(
    r"(?:<(?:Ctrl|Control|Primary|Shift|Alt|Meta|Super|Release)>)+\S*"
    r"|\w+(?: ?\+ ?[\w-]+)+\+?|F\d{1,2}|\^\w"
)
_NO_LETTER = re.compile(r"\W")
_MARKS = (re.compile(r"(?<!\w)_(?=\w)"), re.compile(r"&(?=\w)"), re.compile(r"(?<!\S)~(?=\w)"))
_IDENTIFIER = re.compile(
    r"-{1,2}\w\S*|\S*(?:_|::|\(\)|=|\\|->)\S*|[a-z]+[A-Z]\w*|\w+(?:\.\w+){2,}|\$\w+|[a-z]\w*\(\S*\)"
)


def is_empty(source: str, target: str) -> bool:
    """Drop what has nothing on one side."""
    return not source.strip() or not target.strip()


def is_long(source: str, target: str) -> bool:
    """Drop what has more than `MAX_CHARACTERS` on one side."""
    return max(len(source), len(target)) > MAX_CHARACTERS


def is_symbols(source: str, target: str) -> bool:
    """Drop what is hardly letters: fewer than two, or fewer than half of all but digits."""
    return _hardly_letters(source) or _hardly_letters(target)


def is_path(source: str, target: str) -> bool:
    """Drop what is only a path, a file name or an address."""
    del target
    return bool(_PATH.fullmatch(source)) or not without_placeholders(source).strip(" .:()")


def is_key(source: str, target: str) -> bool:
    """Drop what is only a key or keys pressed together."""
    del target
    return bool(_KEY.fullmatch(source))


def is_code(source: str, target: str) -> bool:
    """Drop what is only an identifier or an option, or full of a program's symbols."""
    return (
        bool(_IDENTIFIER.fullmatch(source)) or _full_of_symbols(source) or _full_of_symbols(target)
    )


def is_copy(source: str, target: str) -> bool:
    """Drop what has the same letters on both sides, all but `COPIES_KEPT` of it, chosen by hash."""
    if _NO_LETTER.sub("", source.casefold()) != _NO_LETTER.sub("", target.casefold()):
        return False
    return int.from_bytes(sha256(source.encode()).digest()[:4]) >= COPIES_KEPT * 2**32


def has_other_placeholders(source: str, target: str) -> bool:
    """Drop what has not the same placeholders, tags and addresses on both sides."""
    return placeholders(source) != placeholders(target)


def has_other_brackets(source: str, target: str) -> bool:
    """Drop what has not as many brackets of each kind on both sides."""
    ours, theirs = source.translate(_NARROW), target.translate(_NARROW)
    return any(ours.count(bracket) != theirs.count(bracket) for bracket in _BRACKETS)


def has_other_numbers(source: str, target: str) -> bool:
    """Drop what has not the same digits on both sides, however they are grouped and ordered."""
    return _digits(source) != _digits(target)


def has_marks(source: str, target: str) -> bool:
    """Drop what still has an accelerator's mark, or more of them, on one side only."""
    return any(len(mark.findall(source)) != len(mark.findall(target)) for mark in _MARKS)


FILTERS: dict[str, Filter] = {
    "empty": is_empty,
    "too long": is_long,
    "symbols only": is_symbols,
    "path": is_path,
    "key": is_key,
    "code": is_code,
    "copy": is_copy,
    "placeholders differ": has_other_placeholders,
    "brackets differ": has_other_brackets,
    "numbers differ": has_other_numbers,
    "accelerators differ": has_marks,
}
"""Every filter by the name that tables give it, in the order in which they are asked."""


def reason_to_drop(source: str, target: str) -> str | None:
    """Return the name of the first filter that drops the pair, None if all let it through."""
    return next((name for name, drops in FILTERS.items() if drops(source, target)), None)


def _hardly_letters(text: str) -> bool:
    seen = [c for c in without_placeholders(text) if not c.isspace() and not c.isdigit()]
    letters = sum(c.isalpha() for c in seen)
    fewest = 1 if any(map(_is_ideograph, seen)) else 2
    return letters < fewest or 2 * letters < len(seen)


def _is_ideograph(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3"


def _full_of_symbols(text: str) -> bool:
    seen = [c for c in without_placeholders(text) if not c.isspace()]
    return 5 * sum(c in _SYMBOLS for c in seen) > len(seen)


def _digits(text: str) -> Counter[int]:
    return Counter(map(int, re.findall(r"\d", text)))
