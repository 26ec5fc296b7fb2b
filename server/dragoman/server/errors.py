"""What can go wrong in the server, beside the engine's own errors.

ServerError
|-- ConfigurationError        a setting is wrong; the process ends with 2
|-- StartupError              bundle, port or TLS files; the process ends with 1
`-- CallError                 ends one call; `status.py` turns it into a google.rpc.Status
|-- InvalidFieldError     a field of the request is out of bounds
|-- InvalidEncodingError  the request is no valid message
|-- UnknownModelError     the model is not served here
|-- UnknownMethodError    there is no such method
|-- OverloadedError       the queue is full
|-- NotReadyError         the model is still being loaded
`-- DrainingError         the server is about to stop
"""

from dataclasses import dataclass


class ServerError(Exception):
    """Base of this package's errors."""


class ConfigurationError(ServerError):
    """A setting is wrong. The message names it, its value and its bound, in one line."""


class StartupError(ServerError):
    """The server cannot start. The message says why, in one line."""


class CallError(ServerError):
    """Ends one call with a status of its own."""


@dataclass(eq=False)
class InvalidFieldError(CallError):
    """A field of the request is out of bounds.

    Attributes:
        field: path of the field as the contract spells it, such as ``contents[2]``.
        value: what it is, in words.
        bound: what it must be, in words.
    """

    field: str
    value: str
    bound: str

    def __str__(self) -> str:
        return f"{self.field} is {self.value}; it must be {self.bound}"


@dataclass(eq=False)
class InvalidEncodingError(CallError):
    """The bytes of the request are no valid message of its type."""

    message_name: str

    def __str__(self) -> str:
        return f"the request is no valid {self.message_name}: its texts must be UTF-8"


@dataclass(eq=False)
class UnknownModelError(CallError):
    """No model of this name is served."""

    name: str
    served: str

    def __str__(self) -> str:
        return f"no model {quoted(self.name)} is served here; there is {self.served!r}"


@dataclass(eq=False)
class UnknownMethodError(CallError):
    """The server has no method of this name."""

    method: str

    def __str__(self) -> str:
        return f"there is no method {quoted(self.method)}"


@dataclass(eq=False)
class OverloadedError(CallError):
    """The queue has no room for the call's lines."""

    retry_after_seconds: float

    def __str__(self) -> str:
        return f"the queue is full; try again in {self.retry_after_seconds:.1f} s"


class NotReadyError(CallError):
    """The model is still being loaded."""

    def __str__(self) -> str:
        return "the model is still being loaded"


class DrainingError(CallError):
    """The server is about to stop."""

    def __str__(self) -> str:
        return "the server is about to stop"


def quoted(text: str, limit: int = 60) -> str:
    """`text` in quotes, cut to `limit` characters: for messages, which go into trailers."""
    return repr(text if len(text) <= limit else f"{text[:limit]}...")
