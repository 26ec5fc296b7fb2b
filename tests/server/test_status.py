import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from dragoman.engine import (
    DeadlineExceededError,
    EngineFailedError,
    EngineStoppedError,
    InvalidRequestError,
    NumericsError,
    QueueFullError,
    RequestCancelledError,
)
from dragoman.server import errors
from dragoman.server.status import Problem, problem_of
from dragoman.v1.errors import DOMAIN, ErrorReason

CASES = [
    (errors.InvalidFieldError("contents[2]", "7", "6"), "INVALID_ARGUMENT", "INVALID_FIELD"),
    (InvalidRequestError("top_k", 0, "1 to 100"), "INVALID_ARGUMENT", "INVALID_FIELD"),
    (errors.InvalidEncodingError("Request"), "INVALID_ARGUMENT", "INVALID_ENCODING"),
    (errors.UnknownModelError("models/x", "models/y"), "NOT_FOUND", "MODEL_NOT_FOUND"),
    (errors.UnknownMethodError("/a/b"), "UNIMPLEMENTED", "METHOD_NOT_FOUND"),
    (errors.OverloadedError(1.5), "RESOURCE_EXHAUSTED", "QUEUE_FULL"),
    (QueueFullError(10, 2.0), "RESOURCE_EXHAUSTED", "QUEUE_FULL"),
    (errors.NotReadyError(), "UNAVAILABLE", "NOT_READY"),
    (errors.DrainingError(), "UNAVAILABLE", "DRAINING"),
    (EngineStoppedError(), "UNAVAILABLE", "DRAINING"),
    (EngineFailedError("broken"), "UNAVAILABLE", "ENGINE_FAILED"),
    (DeadlineExceededError(), "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"),
    (RequestCancelledError(), "CANCELLED", "CANCELLED"),
    (NumericsError("decoder"), "INTERNAL", "INTERNAL"),
    (RuntimeError("secret"), "INTERNAL", "INTERNAL"),
]


def status_of(problem: Problem) -> status_pb2.Status:
    data = dict(problem.trailers())["grpc-status-details-bin"]
    assert isinstance(data, bytes)
    return status_pb2.Status.FromString(data)


@pytest.mark.parametrize(("error", "code", "reason"), CASES, ids=str)
def test_every_error_has_its_code_and_one_error_info(
    error: Exception, code: str, reason: str
) -> None:
    problem = problem_of(error)
    status = status_of(problem)
    assert problem.code is grpc.StatusCode[code]
    assert status.code == problem.code.value[0]
    assert status.message == problem.message
    infos = [d for d in status.details if d.Is(error_details_pb2.ErrorInfo.DESCRIPTOR)]
    assert len(infos) == 1
    info = error_details_pb2.ErrorInfo()
    infos[0].Unpack(info)
    assert (info.domain, info.reason) == (DOMAIN, reason)


def test_every_reason_of_the_contract_is_used() -> None:
    assert {problem_of(error).reason for error, _, _ in CASES} == set(ErrorReason)


def test_a_field_error_names_field_value_and_bound() -> None:
    problem = problem_of(errors.InvalidFieldError("contents[2]", "9 tokens", "at most 8 tokens"))
    bad_request = error_details_pb2.BadRequest()
    status_of(problem).details[1].Unpack(bad_request)
    (violation,) = bad_request.field_violations
    assert violation.field == "contents[2]"
    assert violation.description == "contents[2] is 9 tokens; it must be at most 8 tokens"


def test_what_may_be_tried_again_says_when() -> None:
    problem = problem_of(QueueFullError(10, 1.2345))
    retry = error_details_pb2.RetryInfo()
    status_of(problem).details[1].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 1234
    assert dict(problem.trailers())["grpc-retry-pushback-ms"] == "1234"
    assert "grpc-retry-pushback-ms" in dict(problem_of(errors.DrainingError()).trailers())
    refused = problem_of(errors.InvalidFieldError("a", "b", "c"))
    assert "grpc-retry-pushback-ms" not in dict(refused.trailers())


def test_a_fault_of_ours_tells_nothing_but_an_id() -> None:
    first, second = problem_of(RuntimeError("secret")), problem_of(RuntimeError("secret"))
    assert first.internal
    assert b"secret" not in dict(first.trailers())["grpc-status-details-bin"]
    assert first.metadata["error_id"] in first.message
    assert first.metadata != second.metadata


def test_long_names_are_cut_in_messages() -> None:
    problem = problem_of(errors.UnknownModelError("x" * 100_000, "models/y"))
    assert len(problem.message) < 200
    assert len(dict(problem.trailers())["grpc-status-details-bin"]) < 1000
