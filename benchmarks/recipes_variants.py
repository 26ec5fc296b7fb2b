"""The variants that `benchmarks.recipes` compares: each a few settings over the base recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dragoman.training.cli import parse_overrides

DECAYED_SHARE = 0.3
CURVE_POINTS = 4


@dataclass(frozen=True, slots=True)
class Variant:
    """One named set of settings, spelt as for `dragoman train --set`."""

    name: str
    question: str
    settings: tuple[str, ...] = field(default=())

    def overrides(self) -> dict[str, Any]:
        """Return the settings by dotted name."""
        return parse_overrides(list(self.settings))


# Said of each, so that the recipe may take the last one's over.
_PIECES = ("tokenizer.vocabulary_size=8000", "model.vocabulary_size=8000")
_LARGE, _SMALL = "training.batch_tokens=4096", "training.batch_tokens=2048"

# In order of what is most worth knowing; an interrupted comparison leaves out the last ones. Each
# winner is kept: from the third on, what differs is told against batches of 2,048 tokens.
VARIANTS = (
    Variant("baseline", "Muon, batches of 4,096 tokens", (_LARGE, *_PIECES)),
    Variant(
        "adam",
        "Adam for the matrices too, at the best rate known (2e-3), instead of Muon",
        (_LARGE, *_PIECES, 'optimizer.name="adam"', "optimizer.learning_rate=2e-3"),
    ),
    Variant(
        "batch-2048", "half the batch: twice the updates for the same tokens", (_SMALL, *_PIECES)
    ),
    Variant(
        "rates-up",
        "batch-2048 with both rates two thirds higher",
        (_SMALL, *_PIECES, "optimizer.matrix_learning_rate=5e-3", "optimizer.learning_rate=3.3e-3"),
    ),
    Variant(
        "deep-6+1",
        "batch-2048 with six encoder layers and one decoder layer instead of 4 + 2",
        (_SMALL, *_PIECES, "model.encoder_layers=6", "model.decoder_layers=1"),
    ),
    Variant(
        "no-dictionary",
        "batch-2048 without dictionary entries instead of 15 % of them",
        (_SMALL, *_PIECES, 'data.origin_weights={"ding-dict" = 0.0}'),
    ),
    Variant(
        "vocabulary-16k",
        "batch-2048 with 16,000 pieces instead of 8,000",
        (_SMALL, "tokenizer.vocabulary_size=16000", "model.vocabulary_size=16000"),
    ),
)


def chosen(names: list[str] | None) -> tuple[Variant, ...]:
    """Return the variants of these names in their order here; all of them by default.

    Raises:
        ValueError: A name belongs to no variant.
    """
    known = {variant.name for variant in VARIANTS}
    if unknown := sorted(set(names or ()) - known):
        raise ValueError(f"no such variant: {', '.join(unknown)}; known: {', '.join(known)}")
    return tuple(variant for variant in VARIANTS if names is None or variant.name in names)


def run_settings(steps: int, threads: int) -> tuple[str, ...]:
    """Return what every variant has in common: length, decay to zero, points of the curve."""
    return (
        f"training.steps={steps}",
        f"optimizer.decay_steps={round(steps * DECAYED_SHARE)}",
        "optimizer.final_fraction=0.0",
        f"training.checkpoint_every={-(-steps // CURVE_POINTS)}",
        f"training.checkpoints_kept={CURVE_POINTS + 1}",
        f"training.evaluate_every={steps}",
        "training.dev_sentences=1",
        f"training.threads={threads}",
    )
