"""The text of a stream as it comes in: the same for both gRPC stacks."""

from __future__ import annotations

from dragoman.client import _responses
from dragoman.client.errors import DragomanError, ProtocolError, StreamNotEndedError
from dragoman.client.results import Chunk, Translation
from dragoman.v1.translation_pb2 import StreamTranslateTextResponse


class Assembly:
    """Puts a translation together from the messages of its stream."""

    __slots__ = ("_parts", "_result", "started")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._result: Translation | None = None
        self.started = False

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def result(self) -> Translation:
        """The whole translation.

        Raises:
            StreamNotEndedError: the stream has not ended yet, or it failed.
        """
        if self._result is None:
            raise StreamNotEndedError("the stream has not ended, or not well; it has no result")
        return self._result

    def add(self, message: StreamTranslateTextResponse) -> Chunk | None:
        """Take the next message; None where it brings no text."""
        self.started = True
        if message.text_delta:
            self._parts.append(message.text_delta)
        if message.HasField("summary"):
            self._result = _responses.streamed(self.text, message.summary)
        return Chunk(message.text_delta) if message.text_delta else None

    def end(self) -> None:
        """Take the end of the stream.

        Raises:
            ProtocolError: it came without a summary.
        """
        if self._result is None:
            raise self.marked(ProtocolError("the server ended the stream without a summary"))

    def marked(self, failure: DragomanError) -> DragomanError:
        """The failure, with the text that was delivered before it."""
        failure.partial_text = self.text
        return failure
