import pytest

from dragoman.server.durations import duration


@pytest.mark.parametrize(
    ("seconds", "whole", "nanos"),
    [(0.0, 0, 0), (1.5, 1, 500_000_000), (0.9999999999, 1, 0), (-0.1, 0, 0), (1e-9, 0, 1)],
)
def test_seconds_to_the_nanosecond(seconds: float, whole: int, nanos: int) -> None:
    value = duration(seconds)
    assert (value.seconds, value.nanos) == (whole, nanos)
