"""Terms of the contract: finds their source in a text, spells their targets in tokens."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dragoman.engine import Term, Tokenizer
from dragoman.server.errors import InvalidFieldError, quoted
from dragoman.v1 import translation_pb2
from dragoman.v1.limits import MAX_TARGET_COUNT, MAX_TERM_CHARACTERS

_LINE_END = "\n"
_LINE_END_PIECE = "<0x0A>"
_MODES = {
    translation_pb2.TERM_MODE_UNSPECIFIED: True,
    translation_pb2.TERM_MODE_HARD: True,
    translation_pb2.TERM_MODE_SOFT: False,
}


@dataclass(frozen=True, slots=True)
class SourceTerm:
    """A term of a request.

    Attributes:
        pattern: finds its source in a line.
        targets: its wordings, as the tokenizer writes them.
        term: what the engine has to know of it.
    """

    pattern: re.Pattern[str]
    targets: tuple[str, ...]
    term: Term

    def applies(self, line: str) -> bool:
        """Whether a line of the source contains it."""
        return self.pattern.search(line) is not None

    def met(self, translation: str) -> bool:
        """Whether a line's translation contains it."""
        return any(target in translation for target in self.targets)


def read_terms(
    field: str, terms: Iterable[translation_pb2.Term], tokenizer: Tokenizer
) -> Iterator[SourceTerm]:
    """Read the terms of a request; what the engine bounds is left to it.

    Args:
        field: path of the list.
        terms: the messages.
        tokenizer: spells the targets.

    Raises:
        InvalidFieldError: a text is blank, too long or has several lines, a term has no or too
            many targets or a bonus that it can't use, or its mode is unknown.
    """
    for index, message in enumerate(terms):
        yield _read(f"{field}[{index}]", message, tokenizer)


def spellings(text: str, tokenizer: Tokenizer) -> tuple[tuple[int, ...], ...]:
    """Tokens of a wording: at the beginning of a word and, where they differ, inside of one.

    The second is how it goes on after an opening bracket or quotation mark.
    """
    ids = tokenizer.encode(text)
    # The piece of a line end never joins what follows, so this is how the text is spelt there.
    after = list(tokenizer.encode(_LINE_END + text))
    pieces = [tokenizer.piece(token_id) for token_id in after]
    if _LINE_END_PIECE not in pieces:
        return (ids,)
    inside = tuple(after[pieces.index(_LINE_END_PIECE) + 1 :])
    return (ids,) if inside == ids or not inside else (ids, inside)


def _read(field: str, message: translation_pb2.Term, tokenizer: Tokenizer) -> SourceTerm:
    source = _single_line(f"{field}.source", message.source)
    count = len(message.targets)
    if not 1 <= count <= MAX_TARGET_COUNT:
        bound = f"1 to {MAX_TARGET_COUNT} items"
        raise InvalidFieldError(f"{field}.targets", f"{count} items", bound)
    if message.mode not in _MODES:
        raise InvalidFieldError(f"{field}.mode", str(message.mode), "a TermMode")
    ways = [
        _spell(f"{field}.targets[{index}]", target, tokenizer)
        for index, target in enumerate(message.targets)
    ]
    hard = _MODES[message.mode]
    if hard and message.HasField("bonus"):
        raise InvalidFieldError(f"{field}.bonus", str(message.bonus), "absent with a hard term")
    ids = tuple(dict.fromkeys(way for spelt in ways for way in spelt))
    bonus = message.bonus if message.HasField("bonus") else 1.0
    return SourceTerm(
        pattern=_whole_words(source, match_case=message.match_case),
        targets=tuple(tokenizer.decode(spelt[0]) for spelt in ways),
        term=Term(target_ids=ids, hard=hard, bonus=bonus),
    )


def _spell(field: str, text: str, tokenizer: Tokenizer) -> tuple[tuple[int, ...], ...]:
    ways = spellings(_single_line(field, text), tokenizer)
    if not tokenizer.decode(ways[0]).strip():
        raise InvalidFieldError(field, quoted(text), "a text that has tokens")
    return ways


def _single_line(field: str, text: str) -> str:
    words = text.strip()
    if not words:
        raise InvalidFieldError(field, "blank", "a single line that is not blank")
    if len(words) > MAX_TERM_CHARACTERS:
        bound = f"at most {MAX_TERM_CHARACTERS} characters long"
        raise InvalidFieldError(field, f"{len(words)} characters long", bound)
    if len(words.splitlines()) > 1:
        raise InvalidFieldError(field, "several lines", "a single line that is not blank")
    return words


def _whole_words(source: str, *, match_case: bool) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, source.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", 0 if match_case else re.IGNORECASE)
