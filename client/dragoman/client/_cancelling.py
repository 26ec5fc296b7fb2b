"""What the asyncio client must find out about a call that failed."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc

from dragoman.client._call import Call
from dragoman.client.errors import DragomanError


def is_task_cancelled() -> bool:
    """Whether an `asyncio.CancelledError` is meant for the task, and not only for its call.

    gRPC raises the same for both, also where the server cancelled the call.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def explained(call: Call[Any], error: grpc.RpcError) -> DragomanError:
    """The exception for a failed attempt, as telling as it can be made."""
    failure = call.failure(error)
    if call.can_explain(failure):
        return await asyncio.to_thread(call.explain, failure)
    return failure
