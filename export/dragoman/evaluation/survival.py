"""What a translation must carry over unchanged: addresses, placeholders, numbers.

A piece of text is of one kind only: what is part of an address is no placeholder, and what is
part of either is no number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from dragoman.evaluation.rates import Rate

Find = Callable[[str], Counter[str]]

_ADDRESS: Final = re.compile(
    r"""
      \b(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)[^\s<>"„“”«»]+
    | \b[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AFTER_ADDRESS: Final = ".,;:!?)]}'`\u2019\u2026"

_PLACEHOLDER: Final = re.compile(
    r"""
      (?P<percent> %% | \d+% )                # a percent sign that means one
    | %\([^()\s]+\) [-+#0]* \d* (?:\.\d+)? [a-zA-Z]                        # %(id)s
    | % (?:\d+\$)? [-+#0']* (?:\d+|\*)? (?:\.(?:\d+|\*))?                  # %s, %1$d, %-5.2f
        (?:hh|ll|[hlqjztL])? [diouxXeEfFgGaAcCsSpnm@]
    | %L?\d{1,2}                                                           # %1
    | \{\{[^{}]+\}\}                                                       # {{x}}
    | \$?\{[^{}\s]*\}                                                      # {name}, {}, ${VAR}
    | \$[A-Za-z_]\w*                                                       # $VAR
    """,
    re.VERBOSE,
)

_NUMBER: Final = re.compile(r"[0-9]+(?:[.,'\u2019\u00a0\u2009\u202f][0-9]+)*")
_SEPARATORS: Final = re.compile(r"[^0-9]")


def addresses(text: str) -> Counter[str]:
    """URLs and e-mail addresses, without punctuation behind them."""
    return Counter(match[0].rstrip(_AFTER_ADDRESS) for match in _ADDRESS.finditer(text))


def placeholders(text: str) -> Counter[str]:
    """Places that a program fills in: printf's, Qt's, Python's, those in braces, variables."""
    found = _PLACEHOLDER.finditer(_ADDRESS.sub(" ", text))
    return Counter(match[0] for match in found if match["percent"] is None)


def numbers(text: str) -> Counter[str]:
    """Strings of digits, separators within them removed: 1,000.5 and 1.000,5 are both 10005."""
    rest = _PLACEHOLDER.sub(_blank, _ADDRESS.sub(" ", text))
    return Counter(_SEPARATORS.sub("", match[0]) for match in _NUMBER.finditer(rest))


def survival(find: Find, sources: Sequence[str], outputs: Sequence[str]) -> Rate:
    """How many of the pieces found in the sources their outputs have too, each as often."""
    kept = total = 0
    for source, output in zip(sources, outputs, strict=True):
        wanted = find(source)
        if wanted:
            kept += (wanted & find(output)).total()
            total += wanted.total()
    return Rate(kept, total)


def _blank(match: re.Match[str]) -> str:
    return match[0] if match["percent"] else " "
