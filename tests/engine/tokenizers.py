"""Small tokenizers, trained on a few lines."""

from __future__ import annotations

import io

import sentencepiece

from dragoman.engine import SpecialTokens

SPECIAL = SpecialTokens(pad=0, unk=1, bos=2, eos=3)
LINES = [
    "the quick brown fox jumps over the lazy dog",
    "pack my box with five dozen liquor jugs, please",
    "Der Hund schläft über Nacht im grünen Garten.",
    "Write it down: 12 boats and 34 oars.",
]


def tokenizer_model(*, removes_spaces: bool) -> bytes:
    """Train a SentencePiece model with the project's settings on a few lines."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 20),
        model_writer=model,
        vocab_size=350,
        model_type="unigram",
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=removes_spaces,
        split_digits=True,
        hard_vocab_limit=False,
        pad_id=SPECIAL.pad,
        unk_id=SPECIAL.unk,
        bos_id=SPECIAL.bos,
        eos_id=SPECIAL.eos,
        minloglevel=2,
    )
    return model.getvalue()
