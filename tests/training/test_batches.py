from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.training.batches import BatchStream, make_batch
from dragoman.training.packed import PackedCorpus, pack
from dragoman.training.recipe import DataSettings


@pytest.fixture(scope="module")
def corpus() -> PackedCorpus:
    generator = np.random.default_rng(0)
    lengths = generator.integers(1, 40, (2, 1000))
    offsets = [np.concatenate(([0], np.cumsum(side))) for side in lengths]
    ids = [generator.integers(4, 99, side[-1]).astype(np.uint16) for side in offsets]
    origins = np.repeat(np.array([0, 1], np.uint8), 500)
    return PackedCorpus(ids[0], offsets[0], ids[1], offsets[1], origins, ("ui", "dict"), {})


def test_an_epoch_holds_every_pair_once(corpus: PackedCorpus) -> None:
    batches = BatchStream(corpus, 300, 1, {}).epoch_batches(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(1000))


def test_no_batch_passes_its_padded_size(corpus: PackedCorpus) -> None:
    widths = np.maximum(corpus.source_lengths(), corpus.target_lengths())
    for rows in BatchStream(corpus, 300, 1, {}).epoch_batches(3):
        assert len(rows) * widths[rows].max() <= 300


def test_epochs_differ_and_repeat_exactly(corpus: PackedCorpus) -> None:
    stream = BatchStream(corpus, 300, 1, {})
    first, again, other = (
        np.concatenate(stream.epoch_batches(epoch)).tolist() for epoch in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_a_stream_goes_on_where_it_stopped(corpus: PackedCorpus) -> None:
    stream = BatchStream(corpus, 300, 1, {})
    count = len(stream.epoch_batches(0))
    whole = list(islice(stream.iterate(0, 0), count + 5))
    epoch, index, _ = whole[count - 3]
    for (e1, i1, expected), (e2, i2, found) in zip(
        whole[count - 2 :], stream.iterate(epoch, index), strict=False
    ):
        assert (e1, i1) == (e2, i2)
        assert torch.equal(expected.source_ids, found.source_ids)


def test_origin_weights_thin_an_origin_out(corpus: PackedCorpus) -> None:
    rows = np.concatenate(BatchStream(corpus, 300, 1, {"dict": 0.2}).epoch_batches(0))
    assert (corpus.origins[rows] == 0).sum() == 500
    assert 60 <= (corpus.origins[rows] == 1).sum() <= 140


def test_an_epoch_without_pairs_is_an_error(corpus: PackedCorpus) -> None:
    stream = BatchStream(corpus, 300, 1, {"dict": 0.0, "ui": 0.0})
    with pytest.raises(ValueError, match="no pair is left"):
        next(stream.iterate(0, 0))


def test_targets_are_shifted_by_bos() -> None:
    rows = [np.array([5, 6, 3], np.uint16), np.array([7, 3], np.uint16)]
    batch = make_batch(rows[::-1], rows)
    assert batch.source_ids.tolist() == [[7, 3, 0], [5, 6, 3]]
    assert batch.source_lengths.tolist() == [2, 3]
    assert batch.target_in.tolist() == [[2, 5, 6], [2, 7, 0]]
    assert batch.target_out.tolist() == [[5, 6, 3], [7, 3, 0]]
    assert batch.target_tokens == 5


def test_packing_counts_what_does_not_fit(tmp_path: Path, tiny_checkpoint: Path) -> None:
    path = tmp_path / "train.tsv"
    lines = ["one\teins", "one " * 200 + "\t" + "eins " * 200, "one\t" + "eins " * 10]
    path.write_text("\n".join(lines), encoding="utf-8")
    settings = DataSettings(train=(str(path),), max_tokens=100)
    corpus = pack(settings, tiny_checkpoint / "tokenizer.model", tmp_path / "cache")
    assert len(corpus) == 1
    assert corpus.source(0)[-1] == corpus.target(0)[-1] == 3
    assert corpus.rejected == {"over-long": 1, "length ratio": 1}


def test_packing_happens_once_for_the_same_data(tmp_path: Path, tiny_checkpoint: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text("one\teins\n", encoding="utf-8")
    tokenizer = tiny_checkpoint / "tokenizer.model"
    settings = DataSettings(train=(str(path),))
    pack(settings, tokenizer, tmp_path / "cache")
    before = [p.stat().st_mtime_ns for p in sorted((tmp_path / "cache").rglob("*.npy"))]
    pack(settings, tokenizer, tmp_path / "cache")
    assert before == [p.stat().st_mtime_ns for p in sorted((tmp_path / "cache").rglob("*.npy"))]
    path.write_text("one\teins\ntwo\tzwei\n", encoding="utf-8")
    assert len(pack(settings, tokenizer, tmp_path / "cache")) == 2
