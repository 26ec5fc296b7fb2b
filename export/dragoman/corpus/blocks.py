"""Documents as sequences of blocks, and their alignment by structure."""

from __future__ import annotations

from dataclasses import dataclass

HEADING = "heading"
"""The kind of block that begins a section; deeper ones are "heading2" and so on."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, a list item, a cell.

    Attributes:
        kind: What it is; blocks of different kinds are never translations of each other.
        text: Its text in one line; empty where it is not to be used, as a listing.
    """

    kind: str
    text: str


def align(source: list[Block], target: list[Block]) -> list[tuple[str, str]]:
    """Pair the texts of two documents section by section.

    The number of sections must be the same, or one more at the end of the target, where
    translators name themselves. A section whose blocks are not of the same kinds in the same order
    is left out but for its heading.
    """
    left, right = _sections(source), _sections(target)
    if len(right) not in {len(left), len(left) + 1}:
        return []
    pairs: list[tuple[str, str]] = []
    for ours, theirs in zip(left, right, strict=False):
        if [block.kind for block in ours] == [block.kind for block in theirs]:
            pairs += [(a.text, b.text) for a, b in zip(ours, theirs, strict=True)]
        elif ours and theirs and ours[0].kind == theirs[0].kind and _is_heading(ours[0]):
            pairs.append((ours[0].text, theirs[0].text))
    return [(a, b) for a, b in pairs if a and b]


def _sections(blocks: list[Block]) -> list[list[Block]]:
    sections: list[list[Block]] = [[]]
    for block in blocks:
        if _is_heading(block):
            sections.append([])
        sections[-1].append(block)
    return sections


def _is_heading(block: Block) -> bool:
    return block.kind.startswith(HEADING)
