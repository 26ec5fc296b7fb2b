"""The shape of a Transformer, with the presets that the project names."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

Norm = Literal["pre", "post"]


class ConfigError(ValueError):
    """A configuration value is outside its bounds; the message names field, value and bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerConfig:
    """Hyper-parameters of the Transformer (Vaswani et al. 2017, section 3 and table 3).

    `norm` places the layer normalisation: "post" is the paper's `norm(x + f(x))`, "pre" is
    `x + f(norm(x))` with one more normalisation after each stack. `max_positions` bounds every
    sequence, special tokens included. The special token ids are those of the tokenizer.
    """

    vocabulary_size: int
    d_model: int = 512
    heads: int = 8
    feed_forward: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.1
    norm: Norm = "pre"
    max_positions: int = 512
    pad_id: int = 0
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "d_model", "heads", "feed_forward", "max_positions"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), ">= 1")
        for name in ("encoder_layers", "decoder_layers"):
            _require(1 <= getattr(self, name) <= 64, name, getattr(self, name), "in 1..64")
        _require(0.0 <= self.dropout < 1.0, "dropout", self.dropout, "in [0, 1)")
        _require(self.norm in ("pre", "post"), "norm", self.norm, '"pre" or "post"')
        _require(self.d_model % 2 == 0, "d_model", self.d_model, "even (sine and cosine pairs)")
        _require(
            self.d_model % self.heads == 0, "d_model", self.d_model, f"a multiple of {self.heads}"
        )
        for name in ("pad_id", "bos_id", "eos_id"):
            bound = f"in 0..{self.vocabulary_size - 1}"
            _require(
                0 <= getattr(self, name) < self.vocabulary_size, name, getattr(self, name), bound
            )

    @property
    def head_size(self) -> int:
        """Width of one attention head, d_k = d_v of the paper."""
        return self.d_model // self.heads

    @classmethod
    def preset(cls, name: str, **overrides: object) -> Self:
        """Return the named preset ("base", "small" or "tiny") with some fields replaced."""
        if name not in PRESETS:
            raise ConfigError(f"preset: {name!r} is not one of {', '.join(sorted(PRESETS))}")
        return cls.from_dict({**PRESETS[name], **overrides})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Build a configuration from plain values; an unknown name is refused."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ConfigError(f"unknown configuration field(s): {', '.join(unknown)}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `from_dict` accepts."""
        return asdict(self)


PRESETS: dict[str, dict[str, Any]] = {
    # The base model of table 3, which the paper normalises after the residual.
    "base": {
        "vocabulary_size": 32_000,
        "d_model": 512,
        "heads": 8,
        "feed_forward": 2048,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "norm": "post",
    },
    # Deep encoder, shallow decoder: the decoder is what a request waits for.
    "small": {
        "vocabulary_size": 8_000,
        "d_model": 256,
        "heads": 8,
        "feed_forward": 1024,
        "encoder_layers": 4,
        "decoder_layers": 2,
    },
    "tiny": {
        "vocabulary_size": 300,
        "d_model": 64,
        "heads": 4,
        "feed_forward": 128,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "dropout": 0.0,
        "max_positions": 64,
    },
}


def _require(holds: bool, name: str, value: object, bound: str) -> None:
    if not holds:
        raise ConfigError(f"{name}: {value!r} must be {bound}")
