import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch

from dragoman.evaluation.survival import addresses
from dragoman.training.batches import BatchStream
from dragoman.training.copying import CopyAugmentation
from dragoman.training.packed import PackedCorpus, pack
from dragoman.training.recipe import DataSettings
from dragoman.training.tokenizer import EOS_ID, load_tokenizer
from dragoman.training.verbatim import VerbatimTexts
from tests import number_words


@pytest.fixture(scope="module")
def processor(tiny_checkpoint: Path) -> sentencepiece.SentencePieceProcessor:
    return load_tokenizer(tiny_checkpoint / "tokenizer.model", 400)


@pytest.fixture(scope="module")
def corpus(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> PackedCorpus:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "train.tsv").write_text(number_words.tsv(list(range(1000))), encoding="utf-8")
    settings = DataSettings(train=(str(folder / "train.tsv"),))
    return pack(settings, tiny_checkpoint / "tokenizer.model", folder / "packed")


def stream(corpus: PackedCorpus, copying: CopyAugmentation | None) -> BatchStream:
    return BatchStream(corpus, 2000, 1, {}, copying)


def test_both_sides_get_the_same_text(
    corpus: PackedCorpus, processor: sentencepiece.SentencePieceProcessor
) -> None:
    added = CopyAugmentation(processor, 0.2, 128, 1).draw(corpus, 0)
    assert 120 <= len(added.texts) <= 280
    in_front = 0
    for row, ids in added.texts.items():
        text = processor.decode(ids.tolist())
        assert " " not in text
        for side in (corpus.source(row), corpus.target(row)):
            whole, own = added.extend(row, side), processor.decode(side[:-1].tolist())
            is_first = row in added.in_front
            joined = f"{text} {own}" if is_first else f"{own} {text}"
            assert processor.decode(whole[:-1].tolist()) == joined
            assert processor.encode(joined) == whole[:-1].tolist()
            assert whole[-1] == EOS_ID
            assert len(whole) == len(side) + added.lengths[row]
        in_front += is_first
    assert 0.2 < in_front / len(added.texts) < 0.5


def test_other_rows_stay_as_they_are(
    corpus: PackedCorpus, processor: sentencepiece.SentencePieceProcessor
) -> None:
    added = CopyAugmentation(processor, 0.1, 128, 1).draw(corpus, 0)
    untouched = set(range(len(corpus))) - added.texts.keys()
    assert not added.lengths[sorted(untouched)].any()
    assert all(
        np.array_equal(added.extend(r, corpus.source(r)), corpus.source(r)) for r in untouched
    )


def test_no_side_grows_beyond_the_limit(
    corpus: PackedCorpus, processor: sentencepiece.SentencePieceProcessor
) -> None:
    added = CopyAugmentation(processor, 0.5, 40, 1).draw(corpus, 0)
    assert added.texts
    widths = np.maximum(corpus.source_lengths(), corpus.target_lengths()) + added.lengths
    assert widths[sorted(added.texts)].max() <= 40


def test_seed_and_epoch_decide_everything(
    corpus: PackedCorpus, processor: sentencepiece.SentencePieceProcessor
) -> None:
    def drawn(seed: int, epoch: int) -> dict[int, list[int]]:
        texts = CopyAugmentation(processor, 0.1, 128, seed).draw(corpus, epoch).texts
        return {row: ids.tolist() for row, ids in texts.items()}

    assert drawn(1, 0) == drawn(1, 0)
    assert drawn(1, 0) != drawn(1, 1)
    assert drawn(1, 0) != drawn(2, 0)


def test_an_augmented_stream_goes_on_where_it_stopped(
    corpus: PackedCorpus, processor: sentencepiece.SentencePieceProcessor
) -> None:
    copying = CopyAugmentation(processor, 0.2, 128, 1)
    count = len(stream(corpus, copying).epoch_batches(0))
    whole = list(islice(stream(corpus, copying).iterate(0, 0), count + 3))
    epoch, index, _ = whole[count - 3]
    rest = stream(corpus, copying).iterate(epoch, index)
    for (_, _, expected), (_, _, found) in zip(whole[count - 2 :], rest, strict=False):
        assert torch.equal(expected.source_ids, found.source_ids)
        assert torch.equal(expected.target_out, found.target_out)


def test_batches_of_augmented_pairs_keep_their_size(
    corpus: PackedCorpus, processor: sentencepiece.SentencePieceProcessor
) -> None:
    batches = stream(corpus, CopyAugmentation(processor, 0.5, 128, 1)).iterate(0, 0)
    for _, _, batch in islice(batches, 20):
        assert max(batch.source_ids.numel(), batch.target_out.numel()) <= 2000


def test_texts_are_those_that_an_evaluation_looks_for() -> None:
    texts = VerbatimTexts(random.Random(3), ["server", "haus"])
    made = [texts.make() for _ in range(600)]
    assert len(set(made)) > 550
    assert all(text.isascii() and text.split() == [text] for text in made)
    assert 0.3 < sum(bool(addresses(text)) for text in made) / len(made) < 0.8
    # A plain word would teach to leave words untranslated.
    assert not [text for text in made if text.strip("()<>").isalpha()]


def test_a_vocabulary_without_words_will_do() -> None:
    assert VerbatimTexts(random.Random(1), []).make()
