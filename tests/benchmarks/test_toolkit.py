"""The other toolkit: its data, its settings, what its logs say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece

from benchmarks.toolkit_config import training_config, write_config
from benchmarks.toolkit_data import write_dev, write_train, write_vocabulary
from benchmarks.toolkit_run import LogStep, read_log, read_nats
from dragoman.training.batches import BatchStream
from dragoman.training.corpus import Pair
from dragoman.training.packed import pack
from dragoman.transformer import TransformerConfig
from tests.conftest import tiny_recipe

LOG = """[2026-01-01 10:00:00,000 INFO] Step 1/  202; acc: 0.0; ppl: 8000.00; xent: 8.99; \
aux: 0.000; mtp: 0.000; attn_ent: 0.000; lr: 2.00e-05; sents:     130; bsz: 2441/2855/130; \
190/222 tok/s;     13 sec;
[2026-01-01 10:00:13,000 INFO] Saving optimizer and weights to step_1
[2026-01-01 10:00:20,000 INFO] Step 2/  202; acc: 0.1; ppl: 7000.00; xent: 8.85; aux: 0.000; \
mtp: 0.000; attn_ent: 0.000; lr: 4.00e-05; sents:     99; bsz: 999/ 145/ 9; 190/222 tok/s; \
    20 sec;
"""


def test_the_toolkit_gets_the_pairs_that_our_run_sees(tmp_path: Path, tiny_run: Path) -> None:
    recipe = tiny_recipe(tmp_path)
    tokenizer = tiny_run / "checkpoint" / "tokenizer.model"
    corpus = pack(recipe.data, tokenizer, tmp_path / "packed")
    drawn = write_train(corpus, recipe, tokenizer, 3_000, tmp_path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    sides = [(tmp_path / f"train.{side}").read_text().splitlines() for side in ("src", "tgt")]
    pairs = sorted(
        ((*processor.encode(a), 3), (*processor.encode(b), 3)) for a, b in zip(*sides, strict=True)
    )
    loop = recipe.training
    stream = BatchStream(corpus, loop.batch_tokens, loop.seed, recipe.data.origin_weights)
    batches = stream.epoch_batches(0)[: drawn.updates]
    ours = sorted(
        (tuple(map(int, corpus.source(row))), tuple(map(int, corpus.target(row))))
        for rows in batches
        for row in map(int, rows)
    )
    assert pairs == ours
    assert drawn.pairs == len(ours)
    assert drawn.target_tokens == sum(len(target) for _, target in ours) >= 3_000
    with pytest.raises(ValueError, match=r"--tokens: 10,000,000 are more than one epoch's"):
        write_train(corpus, recipe, tokenizer, 10_000_000, tmp_path)


def test_pieces_keep_their_ids(tmp_path: Path, tiny_run: Path) -> None:
    path = tmp_path / "pieces.txt"
    assert write_vocabulary(tiny_run / "checkpoint" / "tokenizer.model", path) == 400
    assert path.read_text().split("\n")[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert path.read_text().count("\n") == 400


def test_dev_rows_are_written_in_their_order(tmp_path: Path) -> None:
    write_dev([Pair("b", "c"), Pair("a", "d")], tmp_path)
    assert (tmp_path / "dev.src").read_text() == "b\na\n"
    assert (tmp_path / "dev.tgt").read_text() == "c\nd\n"


@pytest.mark.parametrize(("bf16", "dtype"), [(True, "bf16"), (False, "fp32")])
def test_the_settings_have_our_shape_and_batches(tmp_path: Path, bf16: bool, dtype: str) -> None:
    recipe = tiny_recipe(tmp_path)
    model = TransformerConfig.preset("small")
    write_config(training_config(recipe, model, tmp_path, 202, bf16), tmp_path / "eole.json")
    settings = json.loads((tmp_path / "eole.json").read_text())
    encoder, decoder = settings["model"]["encoder"], settings["model"]["decoder"]
    assert (encoder["layers"], decoder["layers"]) == (4, 2)
    assert settings["model"]["hidden_size"] == 256
    assert settings["training"]["batch_size"] == recipe.training.batch_tokens
    assert settings["training"]["train_steps"] == 202
    assert settings["training"]["compute_dtype"] == dtype


def test_its_log_tells_tokens_and_seconds() -> None:
    assert read_log(LOG) == {1: LogStep(2_855, 13.0), 2: LogStep(3_000, 20.0)}


def test_its_translation_tells_the_loss() -> None:
    log = "INFO] PRED SCORE: -1.0\nINFO] GOLD SCORE: -218.5000, GOLD PPL: 4.5 NB SENTENCES: 10\n"
    assert read_nats(log) == 2_185
    with pytest.raises(ValueError, match="no GOLD SCORE"):
        read_nats("INFO] PRED SCORE: -1.0")
