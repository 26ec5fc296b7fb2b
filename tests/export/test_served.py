"""What the engine gives for a bundle, and that the certificate would see it go wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.engine import DecodingOptions, FinishReason, TranslationRequest
from dragoman.engine.engine import Engine
from dragoman.engine.sessions import DecoderSession
from dragoman.export.certificate import check_scoring
from dragoman.export.graphs import ExportError
from dragoman.export.served import Served
from tests.engine.calls import Call
from tests.engine.traffic import translations


@pytest.fixture(params=["int8", "fp32"])
def bundle(request: pytest.FixtureRequest, tiny_bundle: Path, tiny_bundle_fp32: Path) -> Path:
    return {"int8": tiny_bundle, "fp32": tiny_bundle_fp32}[request.param]


@pytest.fixture
def sources(tiny_bundle: Path) -> list[tuple[int, ...]]:
    return [request.source_ids for request in translations(Engine.load(tiny_bundle), 40)]


def test_scores_are_those_of_the_translations(bundle: Path, sources: list[tuple[int, ...]]) -> None:
    served = Served.by(bundle, sources)
    pairs = list(zip(served.hypotheses, served.scores, strict=True))
    for hypothesis, score in pairs:
        decoded = hypothesis.log_probabilities
        assert score.log_probabilities[: len(decoded)] == decoded
    assert check_scoring(pairs).value == 0
    engine = Engine.load(bundle)
    engine.start()
    greedy = DecodingOptions(max_output_tokens=60)
    alone = Call(engine, TranslationRequest(sources[7], options=greedy)).hypothesis()
    assert alone.finish_reason is FinishReason.STOP
    assert served.hypotheses[7] == alone
    assert served.texts[7] == engine.tokenizer.decode(alone.token_ids)
    engine.stop()


def test_steps_that_force_otherwise_than_they_choose_fail_the_check(
    bundle: Path, sources: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = DecoderSession.run

    def shifted(self: DecoderSession, *arguments: Any, **options: Any) -> Any:
        output = run(self, *arguments, **options)
        output.log_probs[:] -= 0.002
        return output

    monkeypatch.setattr(DecoderSession, "run", shifted)
    served = Served.by(bundle, sources)
    with pytest.raises(ExportError, match=r"scoring_error: 0\.002"):
        check_scoring(list(zip(served.hypotheses, served.scores, strict=True))).require()


def test_a_broken_engine_is_told(
    tiny_bundle: Path, sources: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(DecoderSession, "run", broken)
    with pytest.raises(ExportError, match=r"the engine failed: .*no memory"):
        Served.by(tiny_bundle, sources)
