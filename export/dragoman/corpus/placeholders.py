"""What a program fills in or reads, and a translation must leave as it is."""

from __future__ import annotations

import re
from collections import Counter

_FORMAT = r"%(?:\d+\$)?[-+#0']*\d*(?:\.\d+)?(?:hh|h|ll|l|j|z|t|q|L)?[diouxXeEfgGcspnm@]"
_PLACEHOLDER = re.compile(
    rf"""
      %\([\w.-]+\)[-+#0-9.]*[a-zA-Z]           # Python: percent, name, type
    | {_FORMAT}\b                              # C
    | %[A-Za-z_]\w+%                            # name between percent signs
    | %L?\d{{1,2}}\b                           # Qt
    | %[A-Za-z]\b                              # dates
    | \$?\{{\{{?[\w.:!\[\]]*\}}?\}}            # braces
    | \$\([\w.]+\) | \$[A-Za-z_]\w*            # shell
    | @[A-Za-z_][\w-]*@                        # between at signs
    | </?[a-zA-Z][\w:]*(?:\s[^<>]*=[^<>]*)?/?> # tags
    """,
    re.VERBOSE,
)
_ADDRESS = re.compile(r"(?:https?|ftp|mailto|file)://?[^\s<>\"']+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_POSITION = re.compile(r"^%\d+\$")
_TAG = re.compile(r"</?[a-zA-Z]")
_TAGS = {
    "a", "b", "big", "br", "code", "em", "emphasis", "i", "kbd", "link", "s", "small", "span",
    "strong", "sub", "sup", "tt", "u", "var", "app", "command", "filename", "application", "gui",
    "interface", "literal", "placeholder", "shortcut", "icode", "numid", "nl", "p", "li", "ul",
}  # fmt: skip


def placeholders(text: str) -> Counter[str]:
    """Count the placeholders, tags and addresses of a text; "%1$s" counts as "%s"."""
    found = Counter(match.rstrip(".,;:!?)/") for match in _ADDRESS.findall(text))
    for match in _PLACEHOLDER.findall(text):
        if not _TAG.match(match) or _tag_name(match) in _TAGS:
            found[_POSITION.sub("%", match)] += 1
    return found


def without_placeholders(text: str) -> str:
    """Return the text with a space for each placeholder, tag and address."""
    return _PLACEHOLDER.sub(" ", _ADDRESS.sub(" ", text))


def _tag_name(tag: str) -> str:
    return re.split(r"[\s/>]", tag.strip("</>"))[0].lower()
