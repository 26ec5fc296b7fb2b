"""Everything that the engine refuses or reports.

EngineError
├── BundleError                  the bundle on disk can't be served
├── OutOfBoundsError
│   ├── InvalidOptionError       an option of the engine itself
│   └── InvalidRequestError      a request that is never started
├── QueueFullError               too many requests are waiting
├── EngineStoppedError           the engine takes no more requests
├── EngineFailedError            the engine itself broke; every pending request ends with this
├── DeadlineExceededError        the request's time was over
├── RequestCancelledError        the caller gave the request up
└── NumericsError                the model's numbers for this request are not finite
"""


class EngineError(Exception):
    """Root of all errors that the engine raises or delivers in a `Failed` event."""


class BundleError(EngineError):
    """A bundle can't be served.

    Attributes:
        subject: the file, or the field of bundle.json, that is at fault.
        problem: what is wrong with it.
    """

    def __init__(self, subject: str, problem: str) -> None:
        super().__init__(f"{subject}: {problem}")
        self.subject = subject
        self.problem = problem


class OutOfBoundsError(EngineError, ValueError):
    """A value lies outside its bounds.

    Attributes:
        field: name of the field at fault.
        value: the value that it had.
        bound: what is allowed, in words.
    """

    def __init__(self, field: str, value: object, bound: str) -> None:
        super().__init__(f"{field} is {value!r}; it must be {bound}")
        self.field = field
        self.value = value
        self.bound = bound


class InvalidOptionError(OutOfBoundsError):
    """An option of the engine is outside its bounds."""


class InvalidRequestError(OutOfBoundsError):
    """A request is outside its bounds; nothing was allocated for it."""


class QueueFullError(EngineError):
    """As many requests are waiting as the engine admits.

    Attributes:
        max_queued: the limit that was met.
        retry_after_seconds: when a new attempt is likely to be taken.
    """

    def __init__(self, max_queued: int, retry_after_seconds: float) -> None:
        super().__init__(f"{max_queued} requests are waiting; retry in {retry_after_seconds:.2f} s")
        self.max_queued = max_queued
        self.retry_after_seconds = retry_after_seconds


class EngineStoppedError(EngineError):
    """The engine is stopping or was stopped."""

    def __init__(self) -> None:
        super().__init__("the engine has been stopped")


class EngineFailedError(EngineError):
    """The engine itself broke; the cause is the error's `__cause__`."""


class DeadlineExceededError(EngineError):
    """The request's deadline passed before its result was complete."""

    def __init__(self) -> None:
        super().__init__("the deadline of the request has passed")


class RequestCancelledError(EngineError):
    """The caller cancelled the request."""

    def __init__(self) -> None:
        super().__init__("the request was cancelled")


class NumericsError(EngineError):
    """The model gave values that are not finite for this request; others are untouched."""

    def __init__(self, where: str) -> None:
        super().__init__(f"the {where} gave values that are not finite")
        self.where = where
