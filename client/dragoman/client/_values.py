"""Checks of single values: whatever gRPC could not send is refused before it is sent."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.client.errors import InvalidArgumentError

_INT32_BITS = 32
_INT64_BITS = 64


def listed(value: object, name: str, *kinds: type) -> Sequence[object]:
    """`value` itself where it is a list or tuple, a list of it where it is of one of the kinds.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, kinds):
        return [value]
    if isinstance(value, list | tuple):
        return value
    one = " or ".join(kind.__name__ for kind in kinds)
    raise TypeError(f"{name} must be a {one}, or a list of them, not {type(value).__name__}")


def checked_text(value: object, field: str) -> str:
    """A text that can be sent.

    Raises:
        TypeError: no `str`.
        InvalidArgumentError: it holds a lone surrogate, which UTF-8 cannot spell.
    """
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found = f"U+{ord(value[error.start]):04X} at index {error.start}"
        raise InvalidArgumentError.of(field, f"lone surrogate {found}") from None
    return value


def int32(value: object, field: str) -> int:
    """An integer for a 32-bit field.

    Raises:
        TypeError: no `int`.
        InvalidArgumentError: it has more bits.
    """
    return _integer(value, field, _INT32_BITS)


def int64(value: object, field: str) -> int:
    """An integer for a 64-bit field; see `int32`."""
    return _integer(value, field, _INT64_BITS)


def int32s(values: object, field: str) -> list[int]:
    """Integers for a repeated 32-bit field; see `int32`."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"{field} must be a list or tuple of int, not {type(values).__name__}")
    return [int32(value, f"{field}[{index}]") for index, value in enumerate(values)]


def real(value: object, field: str) -> float:
    """A number for a field of double precision.

    Raises:
        TypeError: neither `float` nor `int`.
        InvalidArgumentError: too large an `int`.
    """
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise TypeError(f"{field} must be a float, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise InvalidArgumentError.of(field, f"{value} is no double-precision number") from None


def boolean(value: object, field: str) -> bool:
    """A truth value.

    Raises:
        TypeError: no `bool`.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{field} must be a bool, not {type(value).__name__}")
    return value


def _integer(value: object, field: str, bits: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{field} must be an int, not {type(value).__name__}")
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise InvalidArgumentError.of(field, f"{value} is no {bits}-bit integer")
    return value
