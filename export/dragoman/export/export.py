"""From a checkpoint to a certified bundle."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.engine.bundle import DECODER, ENCODER, SCORER
from dragoman.export.arithmetic import Arithmetic, FloatArithmetic
from dragoman.export.bundle import (
    Description,
    add_texts,
    replacing,
    training_facts,
    write_manifest,
)
from dragoman.export.calibration import measure_cache_steps, measure_ranges
from dragoman.export.certificate import (
    Check,
    check_bytes,
    check_finite,
    check_independence,
    check_reading,
    check_scoring,
    check_stepping,
)
from dragoman.export.dev_text import DevText, compare_quality, measure_quality
from dragoman.export.equalization import equalize
from dragoman.export.graphs import (
    ExportError,
    decoder_model,
    encoder_model,
    require_exportable,
    scorer_model,
)
from dragoman.export.int8 import IntegerArithmetic
from dragoman.export.precisions import Precision, Precisions
from dragoman.export.runner import GraphRunner
from dragoman.export.samples import sample_sources
from dragoman.export.served import Served
from dragoman.export.weights import save_graphs
from dragoman.training.checkpoint import load_model
from dragoman.training.tokenizer import load_tokenizer
from dragoman.transformer import Transformer

Report = Callable[[str], None]

# How far reading a target may be from stepping through it.
_READING_BOUNDS: dict[Precision, float] = {"int8": 0.5, "fp32": 1e-3}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A trained model as it was loaded."""

    model: Transformer
    tokenizer: Path
    facts: dict[str, Any]

    @classmethod
    def load(cls, path: Path) -> Checkpoint:
        """Load a checkpoint that can be exported.

        Raises:
            CheckpointError: It is incomplete or altered.
            ConfigError: Its tokenizer does not fit its model.
            ExportError: The graphs can't hold its sizes.
        """
        model, tokenizer, facts = load_model(path)
        require_exportable(model.config)
        load_tokenizer(tokenizer, model.config.vocabulary_size)
        return cls(model, tokenizer, facts)


@dataclass(frozen=True, slots=True)
class Exporter:
    """Writes bundles of one checkpoint.

    Attributes:
        checkpoint: the model.
        description: what the bundle says of itself.
        report: hears what is being done and what was measured.
        caches: of the keys and values of an int8 bundle; those of an fp32 bundle are float32.
    """

    checkpoint: Checkpoint
    description: Description
    report: Report
    caches: Precision = "int8"

    def write(self, path: Path, precision: Precision, dev: Path | None) -> None:
        """Write a certified bundle, replacing the one at `path` at the very end.

        Args:
            path: the bundle's directory.
            precision: of its matrices.
            dev: TSV file of sentence pairs; int8 needs it, and without it fp32 is tried on
                random sources.

        Raises:
            CertificateError: A check failed; nothing was written.
            ExportError: Something stands in the way; nothing was written.
        """
        checkpoint = self.checkpoint
        text = None
        if dev is not None:
            text = DevText.load(dev, checkpoint.tokenizer, checkpoint.model.config)
        if precision == "fp32":
            with replacing(path) as directory:
                self._write_fp32(directory, text)
            return
        if text is None:
            raise ExportError("precision: int8 is measured and certified on text; give it by --dev")
        with tempfile.TemporaryDirectory() as exact, replacing(path) as directory:
            checks, served = self._write_fp32(Path(exact), text)
            self._write_int8(directory, text, checks, served)

    def _write_fp32(self, directory: Path, text: DevText | None) -> tuple[list[Check], Served]:
        checks = self._write_graphs(directory, self.checkpoint.model, FloatArithmetic(), "fp32")
        self.report("comparing fp32 steps with PyTorch")
        stepping = check_stepping(self.checkpoint.model, self._runner(directory, threads=1))
        self._pass(stepping, checks)
        sources = sample_sources(self.checkpoint.model.config) if text is None else text.sources
        return checks, self._serve(directory, "fp32", sources, checks)

    def _write_int8(
        self, directory: Path, text: DevText, exact_checks: list[Check], exact: Served
    ) -> None:
        sentences = text.calibration()
        self.report(f"measuring {len(sentences)} dev sentences")
        model = equalize(self.checkpoint.model, sentences)
        steps = measure_cache_steps(model, sentences) if self.caches == "int8" else None
        arithmetic = IntegerArithmetic(measure_ranges(model, sentences), steps)
        checks = [check for check in exact_checks if check.name == "stepped_error"]
        checks += self._write_graphs(directory, model, arithmetic, "int8")
        served = self._serve(directory, "int8", text.sources, checks)
        qualities = (measure_quality(exact, text), measure_quality(served, text))
        for check in compare_quality(*qualities):
            self._pass(check, checks)
        self._write_manifest(directory, "int8", checks)

    def _serve(
        self,
        directory: Path,
        precision: Precision,
        sources: Sequence[tuple[int, ...]],
        checks: list[Check],
    ) -> Served:
        """Let the engine translate with a bundle and score what it gave."""
        self._write_manifest(directory, precision, checks)
        self.report(f"translating {len(sources)} sentences with {precision} and scoring the result")
        served = Served.by(directory, sources)
        pairs = zip(served.hypotheses, served.scores, strict=True)
        self._pass(check_scoring(list(pairs)), checks)
        self._write_manifest(directory, precision, checks)
        return served

    def _write_graphs(
        self, directory: Path, model: Transformer, arithmetic: Arithmetic, precision: Precision
    ) -> list[Check]:
        self.report(f"tracing the {precision} graphs")
        graphs = {
            ENCODER: encoder_model(model, arithmetic),
            DECODER: decoder_model(model, arithmetic),
            SCORER: scorer_model(model, arithmetic),
        }
        checks: list[Check] = []
        self._pass(check_finite(graphs.values()), checks)
        stored = save_graphs(graphs, directory)
        add_texts(directory, self.checkpoint.tokenizer, self.description)
        self._pass(check_bytes(stored, model, self._precisions(precision)), checks)
        self.report(f"running the {precision} graphs, each row in company and alone")
        alone, together = (self._runner(directory, threads) for threads in (1, 2))
        self._pass(check_independence(alone, together), checks)
        self._pass(check_reading(alone, _READING_BOUNDS[precision]), checks)
        return checks

    def _write_manifest(self, directory: Path, precision: Precision, checks: list[Check]) -> None:
        model, facts = self.checkpoint.model, self.checkpoint.facts
        training = training_facts(facts, model.parameter_count())
        precisions = self._precisions(precision)
        write_manifest(directory, model.config, precisions, self.description, training, checks)

    def _precisions(self, precision: Precision) -> Precisions:
        return Precisions(precision, "fp32" if precision == "fp32" else self.caches)

    def _runner(self, directory: Path, threads: int) -> GraphRunner:
        return GraphRunner(directory, self.checkpoint.model.config, threads)

    def _pass(self, check: Check, checks: list[Check]) -> None:
        checks.append(check.require())
        bound = "" if check.bound is None else f" (at most {check.bound:g})"
        self.report(f"  {check.name} {check.value:.6g}{bound}")
