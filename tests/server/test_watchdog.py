import asyncio
from types import SimpleNamespace
from typing import Any

from dragoman.engine import EngineFailedError
from dragoman.server.watchdog import PERIOD_SECONDS, engine_failure


class Patient:
    """An engine as the watchdog sees it."""

    def __init__(self) -> None:
        self.failure: EngineFailedError | None = None
        self.busy_seconds = 0.0

    def statistics(self) -> Any:
        return SimpleNamespace(busy_seconds=self.busy_seconds)


async def watch(patient: Any) -> asyncio.Task[Any]:
    task = asyncio.create_task(engine_failure(patient, stall_seconds=10))
    await asyncio.sleep(2 * PERIOD_SECONDS)
    return task


async def test_a_failure_is_reported_as_it_is() -> None:
    patient = Patient()
    task = await watch(patient)
    assert not task.done()
    patient.failure = EngineFailedError("broken")
    assert await task is patient.failure


async def test_a_step_that_takes_too_long_is_a_failure() -> None:
    patient = Patient()
    patient.busy_seconds = 9.9
    task = await watch(patient)
    assert not task.done()
    patient.busy_seconds = 10.1
    assert "no step for 10 s" in str(await task)
