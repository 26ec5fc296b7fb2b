"""What an evaluation gives, and its form in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from dragoman.client import Model
from dragoman.evaluation.errors import EvaluationError
from dragoman.evaluation.figures import Breakdown, Traits, break_down, signatures, traits
from dragoman.evaluation.sentences import EvaluationSet
from dragoman.evaluation.translating import Decoding, Output, Speed

FORMAT_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Result:
    """One decoding of the whole test set.

    Attributes:
        decoding: how it was decoded.
        figures: over all and of each domain.
        speed: what it took.
        cut: translations ended by the limit of their tokens.
        refused: sentences that the server refused; they count as empty translations.
        outputs: the translations, row by row.
    """

    decoding: Decoding
    figures: Breakdown
    speed: Speed
    cut: int
    refused: int
    outputs: tuple[str, ...]

    @classmethod
    def of(
        cls, test: EvaluationSet, decoding: Decoding, outputs: Sequence[Output], speed: Speed
    ) -> Result:
        """Measure the outputs for a test set."""
        texts = tuple(output.text for output in outputs)
        return cls(
            decoding,
            break_down(test, texts),
            speed,
            sum(output.is_cut for output in outputs),
            sum(output.is_refused for output in outputs),
            texts,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "decoding": {"name": self.decoding.name, "options": dict(self.decoding.options)},
            "figures": self.figures.to_dict(),
            "speed": self.speed.to_dict(),
            "cut": self.cut,
            "refused": self.refused,
            "outputs": list(self.outputs),
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model, one test set, one result for each decoding.

    Attributes:
        model: what the server tells of the model.
        test: the sentences.
        results: in the order of the decodings.
    """

    model: Model
    test: EvaluationSet
    results: tuple[Result, ...]

    def references(self) -> Traits:
        """The traits of the references themselves: how far the measures can be trusted."""
        return traits(self.test.sources, self.test.references)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format_version": FORMAT_VERSION,
            "model": asdict(self.model),
            "test": {
                "name": self.test.name,
                "sentences": len(self.test),
                "rejected": self.test.rejected,
                "fingerprint": self.test.fingerprint,
                "references": self.references().to_dict(),
            },
            "signatures": signatures(),
            "results": [result.to_dict() for result in self.results],
        }


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier evaluation, as much of it as a comparison needs.

    Attributes:
        model: the model's name and precision.
        fingerprint: that of its test set.
        outputs: translations by name of the decoding, in the order of the file.
    """

    model: str
    fingerprint: str
    outputs: dict[str, tuple[str, ...]]

    def outputs_like(self, decoding: Decoding) -> tuple[str, tuple[str, ...]]:
        """Name and outputs of the same decoding; of the first one where there is no such."""
        name = decoding.name if decoding.name in self.outputs else next(iter(self.outputs))
        return name, self.outputs[name]


def write_results(path: Path, values: dict[str, Any]) -> None:
    """Write JSON for people and programs."""
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_baseline(path: Path, test: EvaluationSet) -> Baseline:
    """Read what `write_results` wrote of the same sentences.

    Raises:
        EvaluationError: it is no such file, or one of other sentences.
        OSError: it cannot be read.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        version = values["format_version"]
        if version != FORMAT_VERSION:
            raise EvaluationError(f"{path}: format version {version}, not {FORMAT_VERSION}")
        baseline = _baseline(values)
    except (ValueError, KeyError, TypeError) as error:
        raise EvaluationError(f"{path}: no result of an evaluation ({error!r})") from error
    lengths = {len(texts) for texts in baseline.outputs.values()}
    if baseline.fingerprint != test.fingerprint or lengths != {len(test)}:
        raise EvaluationError(f"{path}: measured on other sentences than those of {test.name}")
    return baseline


def _baseline(values: dict[str, Any]) -> Baseline:
    model = values["model"]
    return Baseline(
        f"{model['name']}, {model['precision']}",
        values["test"]["fingerprint"],
        {
            result["decoding"]["name"]: tuple(map(str, result["outputs"]))
            for result in values["results"]
        },
    )
