"""What stops an evaluation."""

from __future__ import annotations


class EvaluationError(Exception):
    """A test set, a baseline, a log or a server is of no use; the message names it and says why."""
