"""The settings of the other toolkit (eole): our shape, our batches, its own Adam."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dragoman.training.recipe import Recipe
from dragoman.transformer import TransformerConfig

PACKAGE, VERSION = "eole", "0.6.4"
# Its command line imports aiohttp, which its metadata does not name.
REQUIREMENTS = (f"{PACKAGE}=={VERSION}", "torch==2.13.0", "aiohttp>=3.12")
CURVE_POINTS = 4
_POOL_PAIRS = 16_384
_PEAK_RATE, _WARMUP_STEPS = 2e-3, 100


def training_config(
    recipe: Recipe, model: TransformerConfig, folder: Path, updates: int, bf16: bool
) -> dict[str, Any]:
    """Return eole's settings for a run of `updates` updates over the files in `folder`.

    The rate is that of our best known Adam, with a cosine to zero, and the weights are drawn as
    in the toolkit's own translation recipes (Xavier, uniform).
    """
    return {
        **_vocabulary(folder, model),
        "seed": recipe.training.seed,
        "report_every": 1,
        "overwrite": True,
        "data": {"corpus": {"path_src": f"{folder}/train.src", "path_tgt": f"{folder}/train.tgt"}},
        "model": _model(model),
        "training": {
            "model_path": f"{folder}/model",
            "world_size": 0,
            "gpu_ranks": [],
            "num_workers": 0,
            "compute_dtype": "bf16" if bf16 else "fp32",
            "bucket_size": _POOL_PAIRS,
            "batch_type": "tokens",
            "batch_size": recipe.training.batch_tokens,
            "batch_size_multiple": 1,
            "normalization": "tokens",
            "accum_count": [1],
            "optim": "adam",
            "adam_beta1": 0.9,
            "adam_beta2": 0.98,
            "adam_eps": 1e-9,
            "learning_rate": _PEAK_RATE,
            "warmup_steps": _WARMUP_STEPS,
            "decay_method": "cosine",
            "max_grad_norm": recipe.optimizer.clip_norm,
            "label_smoothing": recipe.training.label_smoothing,
            "dropout": [model.dropout],
            "attention_dropout": [model.dropout],
            "param_init_method": "xavier_uniform",
            "train_steps": updates,
            "valid_steps": updates + 1,
            "save_checkpoint_steps": -(-updates // CURVE_POINTS),
            "log_attention_entropy": False,
        },
    }


def write_config(values: dict[str, Any], path: Path) -> None:
    """Write the settings as JSON, which the toolkit reads as YAML."""
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def _vocabulary(folder: Path, model: TransformerConfig) -> dict[str, Any]:
    pieces = {"src_subword_model": f"{folder}/pieces.model"}
    return {
        "src_vocab": f"{folder}/pieces.txt",
        "share_vocab": True,
        "src_vocab_size": model.vocabulary_size,
        "tgt_vocab_size": model.vocabulary_size,
        "pad_token": "<pad>",
        "transforms": ["sentencepiece"],
        "transforms_configs": {
            "sentencepiece": {**pieces, "tgt_subword_model": pieces["src_subword_model"]}
        },
    }


def _model(model: TransformerConfig) -> dict[str, Any]:
    stack = {
        "heads": model.heads,
        "transformer_ff": model.feed_forward,
        "add_qkvbias": True,
        "add_ffnbias": True,
    }
    return {
        "architecture": "transformer",
        "hidden_size": model.d_model,
        "transformer_ff": model.feed_forward,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "generator_bias": False,
        "embeddings": {
            "word_vec_size": model.d_model,
            "position_encoding_type": "SinusoidalInterleaved",
        },
        "encoder": {"encoder_type": "transformer", "layers": model.encoder_layers, **stack},
        "decoder": {"decoder_type": "transformer", "layers": model.decoder_layers, **stack},
    }
