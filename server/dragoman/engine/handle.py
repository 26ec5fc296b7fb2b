"""What a caller keeps of a request that was accepted."""

from dragoman.engine.registry import Registry


class RequestHandle:
    """An accepted request."""

    __slots__ = ("_key", "_registry")

    def __init__(self, registry: Registry, key: int) -> None:
        """Refer to a request of a registry."""
        self._registry = registry
        self._key = key

    def cancel(self) -> None:
        """Give the request up: it leaves the batch within one step.

        Its terminal event is then `Failed(RequestCancelledError)`, unless it had ended before.
        May be called from any thread and more than once.
        """
        self._registry.cancel(self._key)
