"""What the engine gives that will serve a bundle."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineOptions,
    Event,
    Failed,
    Finished,
    Hypothesis,
    ScoreRequest,
    ScoreResult,
    TargetScore,
    TranslationRequest,
    TranslationResult,
)
from dragoman.export.graphs import ExportError

Source = tuple[int, ...]

_ROWS = 16
_QUEUED = 1024


@dataclass(frozen=True, slots=True)
class Served:
    """What the engine gives for some sources.

    Attributes:
        hypotheses: a greedy translation of each.
        texts: the same as text.
        scores: of these translations, given to be scored.
    """

    hypotheses: tuple[Hypothesis, ...]
    texts: tuple[str, ...]
    scores: tuple[TargetScore, ...]

    @classmethod
    def by(cls, bundle: Path, sources: Sequence[Source]) -> Served:
        """Translate sources many at a time, then score the translations in other company.

        Raises:
            ExportError: The engine failed.
        """
        # With kept prefixes a score would be the very numbers that decoding left.
        options = EngineOptions(max_rows=_ROWS, max_queued=_QUEUED, prefix_cache_bytes=0)
        engine = Engine.load(bundle, options)
        engine.start()
        try:
            hypotheses = _translate(engine, sources)
            scores = _score(engine, sources, hypotheses)
        finally:
            engine.stop(drain=False)
        texts = tuple(engine.tokenizer.decode(found.token_ids) for found in hypotheses)
        return cls(tuple(hypotheses), texts, tuple(scores))


def _translate(engine: Engine, sources: Sequence[Source]) -> list[Hypothesis]:
    # One less than there may be: a translation that the length cut is scored with its end.
    most = engine.limits.max_target_tokens - 1
    requests = [
        TranslationRequest(
            source, options=DecodingOptions(max_output_tokens=min(most, 2 * len(source) + 32))
        )
        for source in sources
    ]
    found = _answers(engine, requests)
    return [result.hypotheses[0] for result in found if isinstance(result, TranslationResult)]


def _score(
    engine: Engine, sources: Sequence[Source], hypotheses: Sequence[Hypothesis]
) -> list[TargetScore]:
    requests = [
        ScoreRequest(source, (hypothesis.token_ids,))
        for source, hypothesis in zip(sources, hypotheses, strict=True)
    ]
    found = _answers(engine, requests[::-1])[::-1]
    return [result.scores[0] for result in found if isinstance(result, ScoreResult)]


def _answers(engine: Engine, requests: Sequence[TranslationRequest | ScoreRequest]) -> list[object]:
    """Answer requests, as many at a time as the engine lets wait."""
    starts = range(0, len(requests), _QUEUED)
    parts = (requests[start : start + _QUEUED] for start in starts)
    return [answer for part in parts for answer in _wait(engine, part)]


def _wait(engine: Engine, requests: Sequence[TranslationRequest | ScoreRequest]) -> list[object]:
    endings: dict[int, Event] = {}
    ended = threading.Semaphore(0)

    def submit(index: int, request: TranslationRequest | ScoreRequest) -> None:
        def keep(event: Event) -> None:
            endings[index] = event
            ended.release()

        engine.submit(request, keep)

    for index, request in enumerate(requests):
        submit(index, request)
    for _ in requests:
        ended.acquire()
    return [_result(endings[index]) for index in range(len(requests))]


def _result(event: Event) -> object:
    match event:
        case Finished(result=result):
            return result
        case Failed(error=error):
            raise ExportError(f"the engine failed: {error}") from error
    raise ExportError(f"the engine answered {event}")
