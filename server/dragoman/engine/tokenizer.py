"""Text to tokens and back, by a SentencePiece model with byte fallback.

Text is only ever text: the literals `</s>`, `<pad>` or `<unk>` in it are spelt with ordinary
pieces. U+2581, which SentencePiece writes for a space, comes back as a space.
"""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass

from sentencepiece import SentencePieceProcessor

from dragoman.engine.errors import BundleError, InvalidRequestError
from dragoman.engine.request import Prefix

SPACE = "\u2581"


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """Ids of the tokens that no text contains."""

    pad: int
    unk: int
    bos: int
    eos: int


class Tokenizer:
    """The tokenizer of a bundle; safe to use from several threads."""

    def __init__(self, model: bytes, special: SpecialTokens, subject: str = "tokenizer") -> None:
        """Load a serialised SentencePiece model.

        Args:
            model: the bytes of a `.model` file.
            special: the ids that the model must have given to its control tokens.
            subject: what errors name, such as the file.

        Raises:
            BundleError: if the bytes are no such model or its control tokens differ.
        """
        try:
            self._processor = SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise BundleError(subject, f"is not a SentencePiece model ({error})") from error
        processor = self._processor
        found = SpecialTokens(
            processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id()
        )
        if found != special:
            raise BundleError(subject, f"its control tokens are {found}, the bundle says {special}")
        self.special = special
        self.size: int = processor.vocab_size()
        self._units = tuple(self._unit(token_id) for token_id in range(self.size))
        self._drops_spaces = not processor.encode("  ")

    def _unit(self, token_id: int) -> str | bytes:
        """Give what a token adds to a text: characters, or one byte of a character."""
        if self._processor.is_control(token_id) or self._processor.is_unknown(token_id):
            return ""
        piece = self.piece(token_id)
        if self._processor.is_byte(token_id):
            return bytes.fromhex(piece[3:-1])
        return piece.replace(SPACE, " ")

    def encode(self, text: str) -> tuple[int, ...]:
        """Tokens of a text, without any special token.

        Raises:
            InvalidRequestError: for a text with lone surrogates.
        """
        try:
            encoded = text.encode()
        except UnicodeEncodeError as error:
            raise InvalidRequestError("text", text, "valid Unicode") from error
        return tuple(self._processor.encode(encoded))

    def encode_source(self, text: str) -> tuple[int, ...]:
        """Tokens of a source text, with one end-of-sentence token at the end."""
        return (*self.encode(text), self.special.eos)

    def end_source(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Give the ids with exactly one end-of-sentence token at the end, whatever they had."""
        tokens = list(ids)
        while tokens and tokens[-1] == self.special.eos:
            tokens.pop()
        return (*tokens, self.special.eos)

    def encode_prefix(self, text: str) -> Prefix:
        """Tokens of the beginning of a target.

        A text that ends in a space asks for a new word after it; without one the last word may
        be continued.
        """
        stripped = text.rstrip(" ")
        return Prefix(self.encode(stripped), starts_new_word=stripped != text)

    def decode(self, ids: Iterable[int]) -> str:
        """Text of tokens: what a `StreamDecoder` gives for them, joined."""
        decoder = self.stream_decoder()
        return decoder.feed(ids) + decoder.finish()

    def stream_decoder(self) -> "StreamDecoder":
        """Give a decoder for one output that arrives token by token."""
        return StreamDecoder(self._units, drops_spaces=self._drops_spaces)

    def piece(self, token_id: int) -> str:
        """Name of a token in the vocabulary, such as `▁Hund` or `<0xC3>`."""
        return str(self._processor.id_to_piece(token_id))

    def token_text(self, token_id: int) -> str:
        """Text of one token by itself; empty for special tokens and parts of a character."""
        unit = self._units[token_id]
        return unit if isinstance(unit, str) else unit.decode("utf-8", "ignore")

    def starts_word(self, token_id: int) -> bool:
        """Whether the token's piece begins with U+2581."""
        return self.piece(token_id).startswith(SPACE)


class StreamDecoder:
    """Turns the tokens of one output into text as they come.

    Text once given is never taken back, a character that several tokens spell is given whole or
    not at all, and bytes that spell no character are dropped.
    """

    __slots__ = ("_at_start", "_bytes", "_drops_spaces", "_in_bytes", "_units")

    def __init__(self, units: tuple[str | bytes, ...], *, drops_spaces: bool) -> None:
        """Start an empty text.

        Args:
            units: what each token adds: characters, or one byte.
            drops_spaces: whether all leading spaces are dropped, or only the first.
        """
        self._units = units
        self._drops_spaces = drops_spaces
        self._at_start = True
        self._in_bytes = False
        self._bytes = codecs.getincrementaldecoder("utf-8")(errors="ignore")

    def feed(self, ids: Iterable[int]) -> str:
        """Take more tokens and give the text that they complete, perhaps none."""
        return "".join([self._add(self._units[token_id]) for token_id in ids])

    def finish(self) -> str:
        """End the output: an unfinished character is dropped."""
        self._in_bytes = False
        return self._bytes.decode(b"", final=True)

    def _add(self, unit: str | bytes) -> str:
        if isinstance(unit, bytes):
            self._at_start, self._in_bytes = False, True
            return self._bytes.decode(unit)
        if self._at_start and unit:
            return self._first(unit)
        return self.finish() + unit if self._in_bytes else unit

    def _first(self, unit: str) -> str:
        text = unit.removeprefix(" ")
        self._at_start = self._drops_spaces and not text
        return text
