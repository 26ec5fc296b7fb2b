"""Notices that the engine is broken or hangs, whatever the calls do."""

import asyncio

from dragoman.engine import Engine, EngineError, EngineFailedError

PERIOD_SECONDS = 0.2


async def engine_failure(engine: Engine, stall_seconds: float) -> EngineError:
    """Wait until the engine fails, and return why.

    Args:
        engine: the running engine.
        stall_seconds: a single step or encoder batch that takes longer counts as a failure.
    """
    while engine.failure is None:
        if engine.statistics().busy_seconds > stall_seconds:
            return EngineFailedError(f"the engine has made no step for {stall_seconds:g} s")
        await asyncio.sleep(PERIOD_SECONDS)
    return engine.failure
