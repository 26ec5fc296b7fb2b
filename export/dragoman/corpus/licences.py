"""Short names of licences out of a package's copyright file."""

from __future__ import annotations

import re

from dragoman.corpus.deb822 import paragraphs

UNSTATED = "see copyright file"
_FORMAT = re.compile(r"^Format(-Specification)?:", re.IGNORECASE | re.MULTILINE)
_COMMON = re.compile(r"/usr/share/common-licenses/([A-Za-z]+(?:-\d(?:\.\d+)*)?)")
_TEXTS = re.compile(
    r"^(po|locale|i18n|man|doc|help|translations?)\b|/po\b|\.(po|mo|\d)\b", re.IGNORECASE
)


def licence(copyright_file: str) -> str:
    """Return a package's licence: that of all its files, then those of its texts, with "; ".

    A machine-readable file states short names. Of another one only the licences are known that it
    refers to in `/usr/share/common-licenses`; `UNSTATED` where there are none.
    """
    if _FORMAT.search(copyright_file[:2000]):
        names = _stated(copyright_file)
    else:
        names = sorted(set(_COMMON.findall(copyright_file)))
    return "; ".join(dict.fromkeys(names)) or UNSTATED


def _stated(text: str) -> list[str]:
    everything: list[str] = []
    of_texts: list[str] = []
    others: list[str] = []
    for fields in paragraphs(text.splitlines()):
        files, name = fields.get("files", ""), _short(fields.get("license", ""))
        if not files or not name:
            continue
        if "*" in files.split():
            everything.append(name)
        elif any(_TEXTS.search(pattern) for pattern in files.split()):
            of_texts.append(name)
        else:
            others.append(name)
    return everything + of_texts if everything else of_texts + others


def _short(field: str) -> str:
    return " ".join(field.partition("\n")[0].split())
