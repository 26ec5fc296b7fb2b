"""Wrong language, wrong script, odd lengths: told by what the corpus itself is mostly like.

Nothing is known of the other language beforehand. Its commonest words, its script and how long its
texts are beside the English ones are counted in the corpus, so any language works.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from dragoman.corpus.pair import Pair

ENGLISH = frozenset({
    "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from",
    "had", "has", "have", "he", "her", "his", "how", "if", "in", "into", "is", "it", "its",
    "more", "most", "must", "no", "not", "of", "on", "only", "or", "other", "our", "out",
    "over", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "under", "until", "up", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "will", "with", "without",
    "would", "you",
})  # fmt: skip
"""Words by which English is known, apart from those that are common in the other language."""
STOP_WORDS = 60
"""Words by which the other language is known."""
SHARED_WORDS = 200
"""A word that is among so many of the other side's commonest tells nothing."""
MIN_WORDS = 2000
"""With fewer words on the other side, only its script and lengths tell."""
MAX_UNKNOWN = 9
"""Words that a text may have without any of its language's."""
MAX_RATIO = 2.2
SLACK = 12
"""Characters added to both lengths before they are compared, so that short texts may differ."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = {"CJK", "THAI", "LAO", "KHMER", "MYANMAR"}
_FAMILIES = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK"}


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of the corpus is like.

    Attributes:
        script: The script of most letters, "LATIN".
        stop_words: Words by which its language is known; none if they could not be learnt.
    """

    script: str
    stop_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Habits:
    """What the corpus is mostly like.

    Attributes:
        source: The English side.
        target: The other side.
        ratio: Characters of the target for each of the source.
    """

    source: Side
    target: Side
    ratio: float

    def reason_to_drop(self, source: str, target: str) -> str | None:
        """Return why a pair is unlike the others, None if it is like them."""
        if _other_script(source, self.source) or _other_script(target, self.target):
            return "wrong script"
        if _other_language(source, self.source, self.target):
            return "wrong language"
        if _other_language(target, self.target, self.source):
            return "wrong language"
        left, right = len(source) * self.ratio + SLACK, len(target) + SLACK
        return "odd lengths" if max(left, right) > MAX_RATIO * min(left, right) else None


def learn(pairs: Iterable[Pair]) -> Habits:
    """Count what the corpus is mostly like."""
    words: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    letters: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    lengths = [0, 0]
    for pair in pairs:
        for side, text in enumerate((pair.source, pair.target)):
            words[side].update(_WORD.findall(text.casefold()))
            letters[side].update(text)
            lengths[side] += len(text)
    ratio = lengths[1] / lengths[0] if lengths[0] and lengths[1] else 1.0
    english, other = words
    script = _script(letters[1])
    unknown = script in _UNSPACED or other.total() < MIN_WORDS
    return Habits(
        Side(_script(letters[0]), ENGLISH - _commonest(other)),
        Side(script, frozenset() if unknown else _stop_words(other, english)),
        ratio,
    )


def _stop_words(own: Counter[str], english: Counter[str]) -> frozenset[str]:
    shared = _commonest(english) | ENGLISH
    words = [word for word in _ordered(own)[:SHARED_WORDS] if word not in shared]
    return frozenset(words[:STOP_WORDS])


def _commonest(words: Counter[str]) -> frozenset[str]:
    return frozenset(_ordered(words)[:SHARED_WORDS])


def _ordered(words: Counter[str]) -> list[str]:
    return sorted(words, key=lambda word: (-words[word], word))


def _script(letters: Counter[str]) -> str:
    scripts: Counter[str] = Counter()
    for letter, count in sorted(letters.items()):
        if letter.isalpha():
            scripts[script_of(letter)] += count
    return max(scripts, key=scripts.__getitem__, default="LATIN")


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """Return the script of a letter as Unicode's names begin; the East Asian ones are one."""
    first = unicodedata.name(letter, "UNKNOWN").split()[0]
    return _FAMILIES.get(first, first)


def _other_script(text: str, side: Side) -> bool:
    letters = [c for c in text if c.isalpha()]
    own = sum(script_of(c) == side.script for c in letters)
    return own < (0.7 if side.script == "LATIN" else 0.3) * len(letters)


def _other_language(text: str, own: Side, other: Side) -> bool:
    if not own.stop_words or not other.stop_words:
        return False
    words = _WORD.findall(text.casefold())
    ours = sum(word in own.stop_words for word in words)
    theirs = sum(word in other.stop_words for word in words)
    if ours:
        return theirs >= 2 * ours and theirs >= 3
    return theirs >= 2 or len(words) > MAX_UNKNOWN
