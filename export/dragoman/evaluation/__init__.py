"""Measures a served model: scores, habits, what survives, and how it got there while training."""
