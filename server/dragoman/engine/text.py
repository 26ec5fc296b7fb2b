"""Cut a text into the lines that are translated and everything that is kept as it is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.engine.errors import InvalidRequestError

# Python's white space for str includes each of these line ends, so a body never starts or ends
# with one; they are excluded from its inside too.
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_BODY = re.compile(rf"\S(?:[^{_LINE_ENDS}]*\S)?")


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text in pieces: separators[0] bodies[0] separators[1] ... bodies[-1] separators[-1].

    Attributes:
        bodies: one per line that is not blank, without the spaces around it.
        separators: everything else: line ends, blank lines and outer spaces; one more than
            bodies, often empty.
    """

    bodies: tuple[str, ...]
    separators: tuple[str, ...]

    def join(self, bodies: Sequence[str]) -> str:
        """Put other bodies in the places of these.

        Raises:
            InvalidRequestError: where their number differs.
        """
        if len(bodies) != len(self.bodies):
            raise InvalidRequestError("bodies", len(bodies), f"{len(self.bodies)} of them")
        parts = [self.separators[0]]
        for body, separator in zip(bodies, self.separators[1:], strict=True):
            parts += (body, separator)
        return "".join(parts)


def split_text(text: str) -> SplitText:
    """Split at every line end that `str.splitlines` knows; a blank text has no bodies.

    `split_text(text).join(split_text(text).bodies) == text` for every text.
    """
    bodies: list[str] = []
    separators: list[str] = []
    end = 0
    for match in _BODY.finditer(text):
        separators.append(text[end : match.start()])
        bodies.append(match[0])
        end = match.end()
    separators.append(text[end:])
    return SplitText(tuple(bodies), tuple(separators))
