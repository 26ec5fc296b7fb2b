"""Package descriptions: the archive's translation indexes, aligned by package and text hash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from dragoman.corpus.blocks import Block, align
from dragoman.corpus.deb822 import paragraphs
from dragoman.corpus.pair import Pair

_VISIBLE_SPACE = "\u22c5"
"""A dot that some translators' tools show for a protected space, and leave in the text."""
_HYPHEN = re.compile(r"[^\W_]-$")
_ITEM = re.compile(r"\s+(?:[-*+o•–]|\d+[.)])\s+")


def read_descriptions(
    english: Iterable[str],
    translated: Iterable[str],
    sources: Mapping[str, str],
    package: str,
) -> Iterator[Pair]:
    """Yield the pairs of two translation indexes.

    Args:
        english: Lines of `Translation-en`.
        translated: Lines of the other language's index.
        sources: Source package by binary package; packages of one source are one document.
        package: What the manifest calls the translated index.
    """
    texts = dict(_texts(translated))
    for key, text in _texts(english):
        if key in texts:
            name = key[0]
            document = f"descriptions:{sources.get(name, name)}"
            for source, target in align_descriptions(text, texts[key]):
                yield Pair(source, target, "descriptions", document, (package,))


def align_descriptions(source: str, target: str) -> list[tuple[str, str]]:
    """Pair the synopses, and the paragraphs and list items where both have the same ones."""
    (head, *body), (other_head, *other_body) = source.split("\n"), target.split("\n")
    return [(head, other_head), *align(blocks(body), blocks(other_body))]


def blocks(lines: list[str]) -> list[Block]:
    """Return the blocks of an extended description, its lines as they stand in a field.

    A line "." ends a paragraph; lines that begin with a space are kept apart: list items, which may
    go on with a deeper indentation, or verbatim text, which is left out.
    """
    found: list[Block] = []
    kind = ""
    for line in lines:
        if line.strip() in {"", "."}:
            kind = ""
        elif match := _ITEM.match(line):
            kind = "item"
            found.append(Block(kind, line[match.end() :].strip()))
        elif kind in {"item", "paragraph"} and line.startswith(" ") == (kind == "item"):
            found[-1] = Block(kind, _joined(found[-1].text, line.strip()))
        else:
            kind = "verbatim" if line.startswith(" ") else "paragraph"
            found.append(Block(kind, line.strip() if kind == "paragraph" else ""))
    return found


def _joined(text: str, line: str) -> str:
    """Join two lines; a compound that was parted at its hyphen is whole again.

    Not "Ein- und Ausgabe": a short word in lower case goes on with a list.
    """
    word = line.split(maxsplit=1)[0]
    parted = _HYPHEN.search(text) and (len(word) > 4 or not word.islower())
    return f"{text}{'' if parted else ' '}{line}"


def _texts(lines: Iterable[str]) -> Iterator[tuple[tuple[str, str], str]]:
    for fields in paragraphs(lines):
        key = (fields.get("package", ""), fields.pop("description-md5", ""))
        for name, text in fields.items():
            if name.startswith("description-") and text:
                yield key, text.replace(_VISIBLE_SPACE, " ")
