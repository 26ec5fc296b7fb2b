import pytest

from dragoman.server.admission import LONGEST_RETRY_SECONDS, SHORTEST_RETRY_SECONDS, Admission
from dragoman.server.errors import OverloadedError


def test_takes_up_to_its_capacity_all_or_none() -> None:
    admission = Admission(10)
    admission.take(6)
    with pytest.raises(OverloadedError):
        admission.take(5)
    assert admission.taken == 6
    admission.take(4)
    admission.take(0)
    admission.release(10)
    assert admission.taken == 0


def test_the_hint_follows_the_rate_at_which_lines_end() -> None:
    now = 0.0
    admission = Admission(100, clock=lambda: now)
    admission.take(100)
    for _ in range(50):  # ten lines a second
        now += 0.1
        admission.release(1)
    admission.take(50)
    with pytest.raises(OverloadedError) as caught:
        admission.take(20)
    assert caught.value.retry_after_seconds == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize(
    ("ended", "wanted", "hint"),
    [(1, 1, SHORTEST_RETRY_SECONDS), (0, 10**6, LONGEST_RETRY_SECONDS)],
)
def test_the_hint_stays_within_bounds(ended: int, wanted: int, hint: float) -> None:
    admission = Admission(64, clock=lambda: 0.0)
    admission.take(64)
    admission.release(32 * ended)
    admission.take(32 * ended)
    with pytest.raises(OverloadedError) as caught:
        admission.take(wanted)
    assert caught.value.retry_after_seconds == hint
