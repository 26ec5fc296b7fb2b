"""Writing a corpus: the pairs, where they come from, and the counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from dragoman.corpus.pair import DOMAINS, Pair
from dragoman.corpus.reader import Provenance
from dragoman.corpus.split import Split

ORIGIN_COLUMNS = ("name", "license", "sentence_pair_count", "origin", "package", "version")
PARTS = ("train", "dev", "test")


def write_corpus(
    folder: Path, parts: Split, provenance: Mapping[str, Provenance], facts: Mapping[str, Any]
) -> None:
    """Write train.tsv, dev.tsv, test.tsv, ORIGINS.tsv and corpus.json into a folder.

    train.tsv has source, target, origin; dev.tsv and test.tsv have domain|origin|document in the
    third column. corpus.json holds `facts` and the files' hashes; the same corpus gives the same
    bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "train.tsv": _tsv(parts.train, held_out=False),
        "dev.tsv": _tsv(parts.dev, held_out=True),
        "test.tsv": _tsv(parts.test, held_out=True),
        "ORIGINS.tsv": origins([*parts.train, *parts.dev, *parts.test], provenance),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    hashes = {name: sha256(text.encode()).hexdigest() for name, text in files.items()}
    text = json.dumps({**facts, "sha256": hashes}, ensure_ascii=False, indent=2)
    (folder / "corpus.json").write_text(f"{text}\n", encoding="utf-8", newline="\n")


def origins(pairs: Iterable[Pair], provenance: Mapping[str, Provenance]) -> str:
    """Return the manifest that `dragoman export --origins` puts into a bundle.

    Tab-separated, with a header: name, license, sentence_pair_count, origin, package, version. A
    pair of two packages, as a manual page and its English, counts for both.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        counts.update((pair.origin, package) for package in pair.packages)
    order = list(DOMAINS)
    lines = ["\t".join(ORIGIN_COLUMNS)]
    for origin, package in sorted(counts, key=lambda key: (order.index(key[0]), key[1])):
        whence = provenance[package]
        name = f"{origin}: {package} {whence.version}".rstrip()
        count = str(counts[origin, package])
        lines.append("\t".join((name, whence.licence, count, origin, package, whence.version)))
    return "".join(f"{line}\n" for line in lines)


def _tsv(pairs: Iterable[Pair], *, held_out: bool) -> str:
    return "".join(f"{pair.source}\t{pair.target}\t{_label(pair, held_out)}\n" for pair in pairs)


def _label(pair: Pair, held_out: bool) -> str:
    return f"{pair.domain}|{pair.origin}|{pair.document}" if held_out else pair.origin
