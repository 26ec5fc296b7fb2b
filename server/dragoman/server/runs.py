"""Runs the engine requests of one call and gathers what comes back."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from dragoman.engine import (
    DeadlineExceededError,
    Engine,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    Hypothesis,
    NextTokenRequest,
    NextTokenResult,
    OnDeadline,
    RequestHandle,
    RequestTiming,
    ScoreRequest,
    ScoreResult,
    TokensCommitted,
    TranslationRequest,
    TranslationResult,
)
from dragoman.server.admission import Admission
from dragoman.server.bridge import EventBridge
from dragoman.server.errors import CallError

RequestT = TypeVar("RequestT", TranslationRequest, NextTokenRequest, ScoreRequest)
ResultT = TypeVar("ResultT", TranslationResult, NextTokenResult, ScoreResult)


@dataclass(frozen=True, slots=True)
class Answer(Generic[ResultT]):
    """The engine's answer to one request.

    Attributes:
        result: what the engine gave.
        submitted: when it got the request, by `time.monotonic()`.
    """

    result: ResultT
    submitted: float


class Runner:
    """Starts runs on one engine and knows those under way.

    Args:
        engine: what runs the requests.
        bridge: brings its events here.
        admission: refuses runs for which there is no room.
        window: how many requests of one run the engine has at one time, so that a long document
            does not stand in everybody's way and still keeps the batch full.
    """

    def __init__(
        self, engine: Engine, bridge: EventBridge, admission: Admission, window: int
    ) -> None:
        self.engine = engine
        self.bridge = bridge
        self.admission = admission
        self.window = window
        self.live: set[Run[Any, Any]] = set()

    def translate(self, requests: Sequence[TranslationRequest]) -> "TranslationRun":
        """A run of translations; it begins when it is entered."""
        return Run(self, requests)

    def predict(self, request: NextTokenRequest) -> "NextTokenRun":
        """A run of one next-token request."""
        return Run(self, [request])

    def score(self, request: ScoreRequest) -> "ScoreRun":
        """A run of one request for scores."""
        return Run(self, [request])

    def fail_all(self, error: EngineError | CallError) -> int:
        """End every run under way with `error`; return how many there were."""
        for run in self.live:
            run.fail(error)
        return len(self.live)


class Run(Generic[RequestT, ResultT]):
    """The requests of one call. A context manager: leaving it cancels what is not done yet.

    Where the best until the deadline is wanted, a line that has nothing by then has an empty
    translation, unless no line has anything: that is a `DeadlineExceededError`.

    Entering raises what `Admission.take` and `Engine.submit` raise; waiting raises the first
    error that befalls any of the requests.
    """

    def __init__(self, runner: Runner, requests: Sequence[RequestT]) -> None:
        self._runner = runner
        self._requests: Sequence[RequestT] = requests
        self._submitted = [0.0] * len(requests)
        self._answers: list[Answer[ResultT] | None] = [None] * len(requests)
        self._tokens: list[list[int]] = [[] for _ in requests]
        self._handles: dict[int, RequestHandle] = {}
        self._next = 0
        self._open = len(requests)
        self._unbegun = 0
        self._error: EngineError | CallError | None = None
        self._changed = asyncio.Event()
        self._gathering = 0
        self._gathered = asyncio.Event()
        self._left = False

    def __enter__(self) -> Self:
        self._runner.admission.take(self._open)
        self._runner.live.add(self)
        try:
            while self._next < min(self._runner.window, len(self._requests)):
                self._submit()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    async def answers(self) -> list[Answer[ResultT]]:
        """Wait for all requests; give their answers in order."""
        while self._open and self._error is None:
            await self._change()
        if self._error is not None:
            raise self._error
        if self._unbegun and self._unbegun == len(self._requests):
            raise DeadlineExceededError
        return [answer for answer in self._answers if answer is not None]

    async def read(self, index: int) -> tuple[list[int], bool]:
        """Wait for tokens of one streamed request.

        Returns:
            The tokens since the last call, perhaps none, and whether these were the last.
        """
        while self._error is None:
            tokens, done = self._tokens[index], self._answers[index] is not None
            if tokens or done:
                self._tokens[index] = []
                return tokens, done
            await self._change()
        raise self._error

    async def gather(self, index: int, seconds: float) -> None:
        """Let tokens of one streamed request come for so long, unless its last come before."""
        self._gathering = index
        self._gathered.clear()
        if seconds and self._error is None and self._answers[index] is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._gathered.wait(), seconds)

    def fail(self, error: EngineError | CallError) -> None:
        """End the run with `error`, unless another came first."""
        if self._error is None:
            self._error = error
        self._changed.set()
        self._gathered.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _submit(self) -> None:
        index = self._next
        self._next += 1
        self._submitted[index] = time.monotonic()
        callback = self._runner.bridge.callback(self._receive, index)
        self._handles[index] = self._runner.engine.submit(self._requests[index], callback)

    def _receive(self, index: int, event: Event) -> None:
        if self._left:
            return
        match event:
            case TokensCommitted(token_ids=token_ids):
                self._tokens[index].extend(token_ids)
            case Finished(result=result):
                self._finish(index, cast(ResultT, result))  # the request's own kind
            case Failed(error=DeadlineExceededError()) if _wants_best(self._requests[index]):
                self._unbegun += 1
                self._finish(index, _nothing(self._requests[index]))
            case Failed(error=error):
                self.fail(error)
        self._changed.set()

    def _finish(self, index: int, result: ResultT) -> None:
        self._answers[index] = Answer(result, self._submitted[index])
        self._handles.pop(index, None)
        self._open -= 1
        if index == self._gathering:
            self._gathered.set()
        self._runner.admission.release(1)
        if self._next < len(self._requests) and self._error is None:
            try:
                self._submit()
            except EngineError as error:
                self.fail(error)

    def _leave(self) -> None:
        self._left = True
        for handle in self._handles.values():
            handle.cancel()
        self._runner.admission.release(self._open)
        self._runner.live.discard(self)


def _wants_best(request: object) -> bool:
    return (
        isinstance(request, TranslationRequest) and request.options.on_deadline is OnDeadline.BEST
    )


def _nothing(request: TranslationRequest | NextTokenRequest | ScoreRequest) -> Any:  # noqa: ANN401 - the request's own kind
    """Stand in for the answer to a translation that never began."""
    hypothesis = Hypothesis((), (), FinishReason.DEADLINE, score=0.0)
    timing = RequestTiming(queue=0.0, first_token=0.0, total=0.0)
    return TranslationResult((hypothesis,), len(request.source_ids), timing)


TranslationRun = Run[TranslationRequest, TranslationResult]
NextTokenRun = Run[NextTokenRequest, NextTokenResult]
ScoreRun = Run[ScoreRequest, ScoreResult]
