"""One exception tree, drawn in its docstring, made from `google.rpc.Status`."""

from __future__ import annotations

import asyncio
import builtins
import pickle
import re
import threading
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2

from dragoman.client import (
    AsyncClient,
    CancelledError,
    Client,
    ClientClosedError,
    DeadlineExceededError,
    DragomanError,
    FieldViolation,
    InternalError,
    InvalidArgumentError,
    MessageTooLargeError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnreachableError,
    errors,
)
from tests.client.backend import (
    DETAILS,
    Failure,
    Shouting,
    draining,
    internal,
    invalid,
    queue_full,
    wait_until,
)
from tests.client.conftest import Stack

Code = grpc.StatusCode


def tree(kind: type[BaseException] = DragomanError, depth: int = 0) -> list[tuple[int, str]]:
    """Every public class of the tree with its depth, in the order of definition."""
    rows = [] if kind.__name__.startswith("_") else [(depth, kind.__name__)]
    deeper = depth + len(rows)
    for child in kind.__subclasses__():
        rows += tree(child, deeper)
    return rows


def test_the_docstring_draws_the_tree() -> None:
    drawn = re.findall(r"^    ([│├└─ ]*)(\w+Error)", str(errors.__doc__), re.MULTILINE)
    assert sorted((len(stem) // 4, name) for stem, name in drawn) == sorted(tree())


def test_the_docstring_names_the_builtin_bases() -> None:
    for name, base in re.findall(r"(\w+Error) \((\w+)\)", str(errors.__doc__)):
        assert issubclass(getattr(errors, name), getattr(builtins, base))


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(Code.NOT_FOUND, reason="MODEL_NOT_FOUND"), NotFoundError),
        (Failure(Code.CANCELLED), CancelledError),
        (Failure(Code.UNAUTHENTICATED), UnauthenticatedError),
        (Failure(Code.PERMISSION_DENIED), PermissionDeniedError),
        (Failure(Code.UNIMPLEMENTED), UnimplementedError),
        (Failure(Code.DEADLINE_EXCEEDED), DeadlineExceededError),
        (Failure(Code.INVALID_ARGUMENT), InvalidArgumentError),
        (Failure(Code.INTERNAL), InternalError),
        (Failure(Code.UNKNOWN), InternalError),
        (Failure(Code.DATA_LOSS), InternalError),
        (Failure(Code.RESOURCE_EXHAUSTED), OverloadedError),
        (Failure(Code.UNAVAILABLE, reason="DRAINING"), UnavailableError),
        (Failure(Code.UNAVAILABLE, details=(error_details_pb2.RetryInfo(),)), UnavailableError),
        (Failure(Code.UNAVAILABLE), UnreachableError),
        (Failure(Code.ABORTED), DragomanError),
        (Failure(Code.OUT_OF_RANGE), DragomanError),
    ],
)
async def test_each_code_has_its_exception(
    stack: Stack, address: str, shouting: Shouting, failure: Failure, kind: type[DragomanError]
) -> None:
    shouting.failures.append(failure)
    async with stack.client(address, max_attempts=1) as client:
        with pytest.raises(DragomanError) as caught:
            await client.translate("one")
    assert type(caught.value) is kind
    assert caught.value.code is failure.code
    assert caught.value.reason == failure.reason
    if failure.code is not Code.DEADLINE_EXCEEDED:
        assert failure.message in str(caught.value)
    assert isinstance(caught.value.__cause__, grpc.RpcError)


async def test_refused_fields(stack: Stack, address: str, shouting: Shouting) -> None:
    violations = (("contents[0]", "300 tokens, at most 250"), ("top_k", "0 is not in 1..100"))
    shouting.failures.append(invalid(*violations))
    async with stack.client(address) as client:
        with pytest.raises(InvalidArgumentError) as caught:
            await client.translate("one")
    error = caught.value
    assert error.violations == tuple(FieldViolation(*violation) for violation in violations)
    assert (error.field, error.description) == violations[0]
    assert isinstance(error, ValueError)
    assert str(error) == "no good"


async def test_a_refusal_without_fields(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.failures.append(Failure(Code.INVALID_ARGUMENT, "bad"))
    async with stack.client(address) as client:
        with pytest.raises(InvalidArgumentError) as caught:
            await client.translate("one")
    assert (caught.value.field, caught.value.description) == ("", "bad")


async def test_the_id_of_a_fault(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.failures += [internal("c0ffee"), Failure(Code.INTERNAL, "boom")]
    async with stack.client(address) as client:
        with pytest.raises(InternalError, match="c0ffee") as caught:
            await client.translate("one")
        assert (caught.value.error_id, caught.value.reason) == ("c0ffee", "INTERNAL")
        with pytest.raises(InternalError) as caught:
            await client.translate("one")
        assert caught.value.error_id == ""


async def test_when_to_come_back(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.failures += [queue_full(2.5), draining(), queue_full(None)]
    async with stack.client(address, max_attempts=1) as client:
        with pytest.raises(OverloadedError) as overloaded:
            await client.translate("one")
        with pytest.raises(UnavailableError) as unavailable:
            await client.translate("one")
        with pytest.raises(OverloadedError) as silent:
            await client.translate("one")
    assert overloaded.value.retry_after == 2.5
    assert unavailable.value.retry_after == 1.0
    assert silent.value.retry_after is None


@pytest.mark.parametrize("garbage", [b"\xff\xff\xff", b"\x1a\x05\x0a\x01x\x12\xff"])
async def test_unreadable_details_are_left_out(
    stack: Stack, address: str, shouting: Shouting, garbage: bytes
) -> None:
    class Garbled(Failure):
        def end(self, context: Any) -> None:
            context.set_trailing_metadata(((DETAILS, garbage),))
            context.abort(self.code, self.message)

    shouting.failures.append(Garbled(Code.NOT_FOUND, "plain message"))
    async with stack.client(address) as client:
        with pytest.raises(NotFoundError, match="plain message"):
            await client.translate("one")


async def test_details_of_other_kinds_are_ignored(
    stack: Stack, address: str, shouting: Shouting
) -> None:
    helping = error_details_pb2.Help(links=[error_details_pb2.Help.Link(url="https://x.example")])
    other = error_details_pb2.ErrorInfo(reason="LATER", domain="proxy.example")
    shouting.failures.append(Failure(Code.NOT_FOUND, "m", "FIRST", (helping, other)))
    async with stack.client(address) as client:
        with pytest.raises(NotFoundError) as caught:
            await client.translate("one")
    assert caught.value.reason == "FIRST"


async def test_an_exception_of_a_handler(stack: Stack, address: str, shouting: Shouting) -> None:
    shouting.failures.append(None)  # type: ignore[arg-type]
    async with stack.client(address) as client:
        with pytest.raises(InternalError) as caught:
            await client.translate("one")
    assert caught.value.code is Code.UNKNOWN


def test_errors_survive_pickling() -> None:
    refused = InvalidArgumentError("m", violations=(FieldViolation("f", "d"),))
    refused.reason, refused.partial_text = "R", "so far"
    for error in (
        refused,
        OverloadedError("m", retry_after=1.5),
        InternalError("m", error_id="i"),
        UnreachableError("m"),
        ClientClosedError("m"),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert str(copy) == "m"
        assert vars(copy) == vars(error)


def test_closing_cancels_a_blocked_call(address: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    client = Client(address)

    def close_once_running() -> None:
        wait_until(lambda: shouting.running == 1)
        client.close()

    closer = threading.Thread(target=close_once_running)
    closer.start()
    with pytest.raises(CancelledError) as caught:
        client.translate("one")
    closer.join()
    assert caught.value.code is Code.CANCELLED
    with pytest.raises(ClientClosedError):
        client.translate("one")


async def test_closing_cancels_an_awaited_call(address: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    client = AsyncClient(address)
    task = asyncio.create_task(client.translate("one"))
    await asyncio.to_thread(wait_until, lambda: shouting.running == 1)
    await client.close()
    with pytest.raises(CancelledError):
        await task
    with pytest.raises(ClientClosedError):
        await client.translate("one")


async def test_a_cancelled_task_stays_cancelled(address: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    async with AsyncClient(address) as client:
        task = asyncio.create_task(client.translate("one"))
        await asyncio.to_thread(wait_until, lambda: shouting.running == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert await asyncio.to_thread(wait_until, lambda: shouting.running == 0)


async def test_an_answer_over_the_limit(stack: Stack, address: str, shouting: Shouting) -> None:
    async with stack.client(address, max_message_bytes=2000) as client:
        with pytest.raises(MessageTooLargeError, match="message larger than max") as sent:
            await client.translate("x" * 3000)
        assert shouting.requests == []
        with pytest.raises(MessageTooLargeError, match="message larger than max") as received:
            await client.translate("ß" * 600 + "x" * 790)
    assert sent.value.code is received.value.code is Code.RESOURCE_EXHAUSTED
    assert len(shouting.requests) == 1
