"""Where the time of a request went."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestTiming:
    """Where a request's time went, in seconds.

    Attributes:
        queue: from submission until the encoder took it.
        first_token: from submission until the first token after the prefix was chosen.
        total: from submission until the result.
    """

    queue: float
    first_token: float
    total: float
