"""Shares of a whole that keep both numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` out of `total`."""

    count: int
    total: int

    @property
    def value(self) -> float | None:
        """The share, 0 to 1; None where there is nothing to share."""
        return self.count / self.total if self.total else None

    def to_dict(self) -> dict[str, int | float | None]:
        """Plain values for JSON."""
        return {"count": self.count, "total": self.total, "rate": self.value}
