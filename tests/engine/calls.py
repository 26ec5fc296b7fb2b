"""Submit requests and collect what comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from dragoman.engine import (
    Engine,
    EngineError,
    Event,
    Failed,
    Finished,
    Hypothesis,
    NextTokenPrediction,
    NextTokenRequest,
    NextTokenResult,
    RequestHandle,
    ScoreRequest,
    ScoreResult,
    TargetScore,
    TokensCommitted,
    TranslationRequest,
    TranslationResult,
)

Request = TranslationRequest | NextTokenRequest | ScoreRequest
Result = TranslationResult | NextTokenResult | ScoreResult
Answer = tuple[Hypothesis, ...] | tuple[NextTokenPrediction, ...] | tuple[TargetScore, ...]
Load = Callable[..., Engine]
PATIENCE = 60.0


class Call:
    """One request and its events; every rule about events is checked as they come."""

    def __init__(self, engine: Engine, request: Request) -> None:
        self.events: list[Event] = []
        self.first = threading.Event()
        self._over = threading.Event()
        self.handle: RequestHandle = engine.submit(request, self._receive)

    def _receive(self, event: Event) -> None:
        late = self._over.is_set()
        self.events.append(event)
        self.first.set()
        if late or isinstance(event, (Finished, Failed)):
            self._over.set()

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def wait(self) -> Finished | Failed:
        """Wait for the terminal event, which must be the only one and the last."""
        assert self._over.wait(PATIENCE), "no terminal event"
        terminal = [event for event in self.events if isinstance(event, (Finished, Failed))]
        assert terminal == [self.events[-1]]
        return terminal[0]

    def result(self) -> Result:
        event = self.wait()
        assert isinstance(event, Finished), event
        return event.result

    def hypothesis(self) -> Hypothesis:
        """The only hypothesis of a translation."""
        result = self.result()
        assert isinstance(result, TranslationResult)
        [hypothesis] = result.hypotheses
        return hypothesis

    def error(self) -> EngineError:
        event = self.wait()
        assert isinstance(event, Failed), event
        return event.error

    def committed(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """All streamed tokens and their log-probabilities, joined."""
        chunks = [event for event in self.events if isinstance(event, TokensCommitted)]
        assert all(chunk.token_ids for chunk in chunks)
        ids = tuple(token for chunk in chunks for token in chunk.token_ids)
        return ids, tuple(value for chunk in chunks for value in chunk.log_probabilities)


def answer(result: Result) -> Answer:
    """All of a result but its times."""
    if isinstance(result, TranslationResult):
        return result.hypotheses
    if isinstance(result, ScoreResult):
        return result.scores
    return result.predictions


def answers(engine: Engine, requests: Sequence[Request]) -> list[Answer]:
    """Submit all at once and wait for all."""
    calls = [Call(engine, request) for request in requests]
    return [answer(call.result()) for call in calls]


class Solo:
    """An engine that has nothing else to do."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def answer(self, request: Request) -> Answer:
        return answer(Call(self.engine, request).result())

    def translate(self, request: TranslationRequest) -> Hypothesis:
        return Call(self.engine, request).hypothesis()
