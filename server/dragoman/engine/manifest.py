"""Typed reading of a JSON object, with errors that name the field."""

from dataclasses import dataclass
from typing import Any

from dragoman.engine.errors import BundleError


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one JSON object.

    Attributes:
        subject: the file, for errors.
        values: the object.
        within: dotted path of the object in the file, empty for the outermost.
    """

    subject: str
    values: dict[str, Any]
    within: str = ""

    def text(self, name: str) -> str:
        """Give a string that is not empty."""
        value = self._get(name)
        if not isinstance(value, str) or not value:
            raise self._error(name, value, "a string that is not empty")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Give one of the named strings."""
        value = self._get(name)
        if value not in choices:
            raise self._error(name, value, f"one of {', '.join(choices)}")
        return str(value)

    def optional_choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Give one of the named strings; where the field is left out, the first."""
        return self.choice(name, choices) if name in self.values else choices[0]

    def integer(self, name: str) -> int:
        """Give an integer from 0 on."""
        value = self._get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._error(name, value, "an integer from 0 on")
        return value

    def count(self, name: str) -> int:
        """Give an integer from 1 on."""
        value = self.integer(name)
        if value == 0:
            raise self._error(name, value, "an integer from 1 on")
        return value

    def group(self, name: str) -> "Fields":
        """Give an object within this one."""
        value = self._get(name)
        if not isinstance(value, dict):
            raise self._error(name, value, "an object")
        return Fields(self.subject, value, self._path(name))

    def array(self, name: str) -> list[Any]:
        """Give an array."""
        value = self._get(name)
        if not isinstance(value, list):
            raise self._error(name, value, "an array")
        return value

    def _get(self, name: str) -> object:
        if name not in self.values:
            raise BundleError(self.subject, f"{self._path(name)} is missing")
        return self.values[name]

    def _path(self, name: str) -> str:
        return f"{self.within}.{name}" if self.within else name

    def _error(self, name: str, value: object, bound: str) -> BundleError:
        return BundleError(self.subject, f"{self._path(name)} is {value!r}; it must be {bound}")
