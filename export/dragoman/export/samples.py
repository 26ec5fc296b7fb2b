"""Random rows and sources that exports are tried on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dragoman.export.runner import Row
from dragoman.training.tokenizer import UNK_ID
from dragoman.transformer import TransformerConfig

# Batches and source lengths, none of them the one that the graphs were traced with.
_SIZES = ((1, 1), (1, 249), (2, 5), (2, 249), (7, 1), (7, 249), (45, 5))
_TARGET = 12
_YOUNGEST = 4
_SOURCES, _LONGEST_SOURCE = 24, 40


def sample_batches(config: TransformerConfig) -> Iterator[list[Row]]:
    """Yield ragged batches of random rows, the same ones every time."""
    generator = np.random.default_rng(1)
    for batch, source in _SIZES:
        yield _sample(config, batch, min(source, config.max_positions), generator)


def sample_sources(config: TransformerConfig) -> list[tuple[int, ...]]:
    """Return random sources of text, the same ones every time."""
    generator = np.random.default_rng(3)
    first = max(config.pad_id, config.bos_id, config.eos_id, UNK_ID) + 1
    longest = min(_LONGEST_SOURCE, config.max_positions) - 1
    lengths = generator.integers(1, longest + 1, _SOURCES)
    return [
        (*generator.integers(first, config.vocabulary_size, length).tolist(), config.eos_id)
        for length in lengths
    ]


def _sample(
    config: TransformerConfig, batch: int, source: int, generator: np.random.Generator
) -> list[Row]:
    target = min(_TARGET, config.max_positions)
    lengths = [(source, target)]
    lengths += [
        (int(generator.integers(1, source + 1)), int(generator.integers(1, target + 1)))
        for _ in range(batch - 1)
    ]
    return [
        Row(
            _ids(config, source_length, generator),
            (config.bos_id, *_ids(config, target_length, generator)[1:]),
            int(generator.integers(_YOUNGEST)),
        )
        for source_length, target_length in lengths
    ]


def longest_row(config: TransformerConfig) -> list[Row]:
    """Return one random row whose source and target are as long as they may be."""
    generator = np.random.default_rng(2)
    source, target = (_ids(config, config.max_positions, generator) for _ in range(2))
    return [Row(source, (config.bos_id, *target[1:]))]


def _ids(config: TransformerConfig, count: int, generator: np.random.Generator) -> tuple[int, ...]:
    return tuple(generator.integers(config.vocabulary_size, size=count).tolist())
