"""Reads single fields of the contract: texts, token ids, prefixes.

Every refusal names the field as the contract spells it, the value and the bound.
"""

from collections.abc import Iterable, Sized

from dragoman.engine import EngineLimits, Prefix, SplitText, Tokenizer, split_text
from dragoman.server.errors import InvalidFieldError
from dragoman.v1 import translation_pb2


class FieldReader:
    """Reads the fields of requests for one model.

    Args:
        tokenizer: the model's.
        limits: the engine's.
        max_text_bytes: most UTF-8 bytes of one text.
    """

    def __init__(self, tokenizer: Tokenizer, limits: EngineLimits, max_text_bytes: int) -> None:
        self._tokenizer = tokenizer
        self._limits = limits
        self._max_text_bytes = max_text_bytes
        longest_piece = max(len(tokenizer.piece(token_id)) for token_id in range(tokenizer.size))
        self._most_characters = longest_piece * limits.max_source_tokens

    def lines(self, field: str, text: str) -> tuple[SplitText, list[tuple[int, ...]]]:
        """The lines of a text and the source tokens of each, end-of-sentence included.

        What has no tokens (a mark that the tokenizer takes for a space) counts as space around.

        Raises:
            InvalidFieldError: the text has too many bytes or a line too many tokens.
        """
        split = self._split(field, text)
        sources = [self._line(field, split, index) for index in range(len(split.bodies))]
        if any(len(ids) == 1 for ids in sources):
            split = _merge(split, [len(ids) == 1 for ids in sources])
            sources = [ids for ids in sources if len(ids) > 1]
        return split, sources

    def sentence(self, field: str, text: str) -> tuple[int, ...]:
        """Source tokens of a text that must be one line and not blank.

        Raises:
            InvalidFieldError: it is not, or it is too long.
        """
        split, sources = self.lines(field, text)
        require_single_line(field, split)
        return sources[0]

    def source_ids(self, field: str, ids: Iterable[int]) -> tuple[int, ...]:
        """Source tokens that the caller chose, with one end-of-sentence token at the end.

        Raises:
            InvalidFieldError: an id is none of the vocabulary or special, or they are too many
                or none.
        """
        source = self._tokenizer.end_source(ids)
        self._check_plain(field, source[:-1])
        count, most = len(source), self._limits.max_source_tokens
        if not 2 <= count <= most:
            bound = f"2 to {most} tokens, end-of-sentence included"
            raise InvalidFieldError(field, f"{count} tokens", bound)
        return source

    def prefix(self, field: str, message: translation_pb2.TargetPrefix) -> Prefix:
        """The start of a target; empty where the message says nothing.

        Raises:
            InvalidFieldError: it has several lines or too many tokens, or an id is none of the
                vocabulary or special.
        """
        if message.HasField("token_ids"):
            field = f"{field}.token_ids.ids"
            prefix = Prefix(tuple(message.token_ids.ids))
            self._check_plain(field, prefix.ids)
        else:
            field = f"{field}.text"
            if len(self._split(field, message.text).bodies) > 1 or _ends_line(message.text):
                raise InvalidFieldError(field, "several lines", "a single line")
            prefix = self._tokenizer.encode_prefix(message.text)
        most = self._limits.max_target_tokens - 1
        if len(prefix.ids) > most:
            bound = f"at most {most} tokens"
            raise InvalidFieldError(field, f"{len(prefix.ids)} tokens", bound)
        return prefix

    def translation(self, field: str, message: translation_pb2.GivenTranslation) -> tuple[int, ...]:
        """Tokens of a translation that the caller has; none where the message says nothing.

        Raises:
            InvalidFieldError: it has several lines or too many tokens, or an id is none of the
                vocabulary or special.
        """
        if message.HasField("token_ids"):
            field = f"{field}.token_ids.ids"
            ids = tuple(message.token_ids.ids)
            self._check_plain(field, ids)
        else:
            field = f"{field}.text"
            split = self._split(field, message.text)
            if len(message.text.strip().splitlines()) > 1:
                raise InvalidFieldError(field, "several lines", "a single line")
            ids = self._tokenizer.encode(split.bodies[0]) if split.bodies else ()
        most = self._limits.max_target_tokens - 1
        if len(ids) > most:
            raise InvalidFieldError(field, f"{len(ids)} tokens", f"at most {most} tokens")
        return ids

    def check_ids(self, field: str, ids: Iterable[int]) -> None:
        """Refuse ids that are none of the vocabulary.

        Raises:
            InvalidFieldError: naming the first.
        """
        check_ids(field, ids, self._limits.vocabulary_size)

    def _check_plain(self, field: str, ids: tuple[int, ...]) -> None:
        self.check_ids(field, ids)
        special = self._tokenizer.special
        for index, token_id in enumerate(ids):
            if token_id in (special.pad, special.bos, special.eos):
                piece = self._tokenizer.piece(token_id)
                bound = "no padding, begin- or end-of-sentence token"
                raise InvalidFieldError(f"{field}[{index}]", f"{token_id} ({piece})", bound)

    def _split(self, field: str, text: str) -> SplitText:
        size = len(text.encode())
        if size > self._max_text_bytes:
            bound = f"at most {self._max_text_bytes} bytes long"
            raise InvalidFieldError(field, f"{size} bytes long", bound)
        return split_text(text)

    def _line(self, field: str, split: SplitText, index: int) -> tuple[int, ...]:
        body = split.bodies[index]
        characters = len(body) - body.count(" ")
        if characters > self._most_characters:
            # More than the tokens could hold: not worth the tokenizer's time.
            raise self._too_long(field, f"{characters} characters", split, index)
        ids = self._tokenizer.encode_source(body)
        if len(ids) > self._limits.max_source_tokens:
            raise self._too_long(field, f"{len(ids)} tokens", split, index)
        return ids

    def _too_long(self, field: str, length: str, split: SplitText, index: int) -> InvalidFieldError:
        place = f" in line {_line_number(split, index)}" if len(split.bodies) > 1 else ""
        bound = f"at most {self._limits.max_source_tokens} tokens a line, end-of-sentence included"
        return InvalidFieldError(field, f"{length} long{place}", bound)


def require_single_line(field: str, split: SplitText) -> None:
    """Refuse a text that is blank or has several lines; a line end at its end does not count.

    Raises:
        InvalidFieldError: naming how many lines there are.
    """
    lines = len(split.join(split.bodies).splitlines())
    if len(split.bodies) != 1 or lines != 1:
        value = f"{lines} lines" if split.bodies else "blank"
        raise InvalidFieldError(field, value, "a single line that is not blank")


def check_count(field: str, items: Sized, least: int, most: int) -> None:
    """Refuse too few or too many items.

    Raises:
        InvalidFieldError: naming count and bounds.
    """
    if not least <= len(items) <= most:
        raise InvalidFieldError(field, f"{len(items)} items", f"{least} to {most} items")


def check_ids(field: str, ids: Iterable[int], vocabulary_size: int) -> None:
    """Refuse ids that are none of the vocabulary.

    Raises:
        InvalidFieldError: naming the first.
    """
    for index, token_id in enumerate(ids):
        if not 0 <= token_id < vocabulary_size:
            bound = f"0 to {vocabulary_size - 1}"
            raise InvalidFieldError(f"{field}[{index}]", str(token_id), bound)


def require_one_line(field: str, split: SplitText, option: str) -> None:
    """Refuse a text with several lines to translate, because an option is for one output.

    Raises:
        InvalidFieldError: naming how many lines there are, and the option.
    """
    if len(split.bodies) > 1:
        bound = f"at most one line that is not blank, with {option}"
        raise InvalidFieldError(field, f"{len(split.bodies)} lines", bound)


def _ends_line(text: str) -> bool:
    return text.splitlines() not in ([], [text])


def _line_number(split: SplitText, index: int) -> int:
    before = split.separators[: index + 1] + split.bodies[:index]
    return 1 + sum(len(f"{part}.".splitlines()) - 1 for part in before)


def _merge(split: SplitText, empty: list[bool]) -> SplitText:
    """Make the bodies that are `empty` a part of the separators around them."""
    bodies: list[str] = []
    separators = [split.separators[0]]
    for body, separator, is_empty in zip(split.bodies, split.separators[1:], empty, strict=True):
        if is_empty:
            separators[-1] += body + separator
        else:
            bodies.append(body)
            separators.append(separator)
    return SplitText(tuple(bodies), tuple(separators))
