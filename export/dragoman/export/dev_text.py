"""Dev text: what int8 is calibrated on and held against fp32 with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import sacrebleu

from dragoman.engine import FinishReason, Hypothesis
from dragoman.export.calibration import Sentence
from dragoman.export.certificate import Check
from dragoman.export.graphs import ExportError
from dragoman.export.served import Served
from dragoman.training.corpus import Pair, read_pairs
from dragoman.training.tokenizer import load_tokenizer
from dragoman.transformer import TransformerConfig

_MOST_PAIRS = 2000
_MOST_CALIBRATED = 256
_LOOP_TOKENS = 3
_LOOP_TIMES = 4


@dataclass(frozen=True, slots=True)
class DevText:
    """Sentence pairs that fit the model.

    Attributes:
        pairs: the texts.
        sentences: the same as token ids.
    """

    pairs: tuple[Pair, ...]
    sentences: tuple[Sentence, ...]

    @classmethod
    def load(cls, path: Path, tokenizer: Path, config: TransformerConfig) -> DevText:
        """Read a TSV file (source, target and more columns).

        Raises:
            ExportError: No pair of it can be used.
            OSError: It can't be read.
        """
        processor = load_tokenizer(tokenizer, config.vocabulary_size)
        pairs: list[Pair] = []
        sentences: list[Sentence] = []
        for pair in islice(read_pairs((str(path),), Counter()), _MOST_PAIRS):
            source = (*processor.encode(pair.source), config.eos_id)
            target = (config.bos_id, *processor.encode(pair.target))
            if max(len(source), len(target)) <= config.max_positions:
                pairs.append(pair)
                sentences.append(Sentence(source, target))
        if not pairs:
            raise ExportError(f"dev: {path} holds no pair that fits the model")
        return cls(tuple(pairs), tuple(sentences))

    @property
    def sources(self) -> list[tuple[int, ...]]:
        """The source sides as token ids."""
        return [sentence.source_ids for sentence in self.sentences]

    def calibration(self) -> Sequence[Sentence]:
        """Return sentences from all over the text, not too many."""
        return self.sentences[:: -(-len(self.sentences) // _MOST_CALIBRATED)]


@dataclass(frozen=True, slots=True)
class Quality:
    """How good greedy translations of the dev text are, all from 0 to 100.

    Attributes:
        chrf: sacreBLEU's chrF.
        copied: share of outputs that repeat their source where the reference does not.
        looping: share of outputs that say the same few tokens over and over, or find no end.
    """

    chrf: float
    copied: float
    looping: float


def measure_quality(served: Served, text: DevText) -> Quality:
    """Say how good the engine's translations of the dev text are."""
    copies = [
        output.strip() == pair.source != pair.target
        for output, pair in zip(served.texts, text.pairs, strict=True)
    ]
    references = [pair.target for pair in text.pairs]
    return Quality(
        chrf=sacrebleu.corpus_chrf(served.texts, [references]).score,
        copied=_percentage(copies),
        looping=_percentage([loops(found) for found in served.hypotheses]),
    )


def compare_quality(exact: Quality, rounded: Quality) -> list[Check]:
    """Return what int8 loses against fp32, with bounds."""
    return [
        Check("fp32_chrf", "chrF of greedy fp32 translations of the dev text", exact.chrf),
        Check("int8_chrf", "chrF of greedy int8 translations of the dev text", rounded.chrf),
        Check("int8_chrf_loss", "chrF lost by int8", exact.chrf - rounded.chrf, 1.0),
        Check(
            "int8_copied_increase",
            "dev sentences that int8 copies instead of translating, beyond those of fp32",
            rounded.copied - exact.copied,
            1.0,
            "percentage points",
        ),
        Check(
            "int8_looping_increase",
            "dev sentences on which int8 repeats itself without end, beyond those of fp32",
            rounded.looping - exact.looping,
            1.0,
            "percentage points",
        ),
    ]


def loops(hypothesis: Hypothesis) -> bool:
    """Whether an output has no end, or says the same few tokens many times in a row."""
    if hypothesis.finish_reason is FinishReason.LENGTH:
        return True
    ids = hypothesis.token_ids
    for size in range(1, _LOOP_TOKENS + 1):
        span = size * _LOOP_TIMES
        for start in range(len(ids) - span + 1):
            if ids[start : start + size] * _LOOP_TIMES == ids[start : start + span]:
                return True
    return False


def _percentage(flags: Sequence[bool]) -> float:
    return 100 * sum(flags) / len(flags)
