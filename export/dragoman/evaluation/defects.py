"""Outputs that are no translations: copies, loops, nothing at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LONGEST_UNIT: Final = 8
"""Words, or letters of a word, that are looked at as one unit that may repeat."""

LEAST_WORD_REPEATS: Final = 3
"""So many times in a row is a loop of words."""

LEAST_LETTER_REPEATS: Final = 5
"""So many times in a row is a loop within a word."""

_WORD: Final = re.compile(r"\w+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")


def has_letters(text: str) -> bool:
    """Whether there is anything to translate in a text."""
    return any(character.isalpha() for character in text)


def is_copy(source: str, output: str) -> bool:
    """Whether a source that has letters came back as it is, outer white space aside."""
    return has_letters(source) and output.strip() == source.strip()


def is_empty(output: str) -> bool:
    """Whether nothing came back but white space."""
    return not output.strip()


def is_loop(source: str, output: str) -> bool:
    """Whether an output repeats itself where its source does not.

    That is: one sequence of 1 to 8 words comes three times or more in direct succession, or one
    sequence of 1 to 8 letters of a word five times or more, and either more often than anything
    of its sort in the source. Words are runs of letters, digits and underscores; case and
    punctuation do not count.
    """
    words = word_repeats(output)
    if words >= LEAST_WORD_REPEATS and words > word_repeats(source):
        return True
    letters = letter_repeats(output)
    return letters >= LEAST_LETTER_REPEATS and letters > letter_repeats(source)


def word_repeats(text: str) -> int:
    """The most times that a sequence of words follows itself; 1 where none does, 0 without any."""
    return repeats(_WORD.findall(text.casefold()))


def letter_repeats(text: str) -> int:
    """The same for sequences of letters within one word."""
    return max((repeats(word) for word in _LETTERS.findall(text.casefold())), default=0)


def repeats(units: Sequence[str]) -> int:
    """The most successive occurrences of any sequence of 1 to 8 units; 0 for no units."""
    most = min(1, len(units))
    for size in range(1, LONGEST_UNIT + 1):
        same = 0
        for place in range(size, len(units)):
            same = same + 1 if units[place] == units[place - size] else 0
            most = max(most, same // size + 1)
    return most
