r"""The escapes of roff: `\fBls\fP \- list` is "ls - list"."""

from __future__ import annotations

import re

_NAMED = {
    "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "Bq": "„", "bq": "‚",
    "Fo": "«", "Fc": "»", "fo": "‹", "fc": "›", "bu": "•", "em": "—", "en": "–", "hy": "-",
    "mi": "-", "co": "©", "rg": "®", "tm": "™", "ha": "^", "ti": "~", "rs": "\\", "ga": "`",
    "ss": "ß", "->": "→", "<-": "←", "<=": "≤", ">=": "≥", "!=": "≠", "+-": "±", "mu": "×",
    "sc": "§", "de": "°", "ul": "_", "ba": "|", "sl": "/", "at": "@", "sh": "#", "Do": "$",
    "lB": "[", "rB": "]", "lC": "{", "rC": "}", "or": "|", "->>": "→", "L\"": "“", "R\"": "”",
    "C'": "'", "--": "--", "Eu": "€", "Po": "£", "12": "½", "14": "¼", "34": "¾",
}  # fmt: skip
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", ":": "\u0308", "^": "\u0302", "~": "\u0303", ",": "\u0327",
}  # fmt: skip
_SINGLE = {"e": "\\", "~": " ", "0": " ", **{mark: mark for mark in "-\\ '`."}}
_ESCAPE = re.compile(
    r"""\\(?:
      ".*$                                         # comment
    | f(?:\(..|\[[^]]*\]|.)                        # font
    | s(?:[-+]?\d|\([-+]?..|\[[^]]*\]|[-+]\(..)    # size
    | [mMFY](?:\(..|\[[^]]*\]|.)                   # colour, family
    | n[-+]?(?:\(..|\[[^]]*\]|.)                   # number register
    | [hvwlLbDoXZN]'[^']*'                         # motion and drawing
    | \*?\[(?P<long>[^]]*)\]                       # named character or string
    | \*?\((?P<two>..)                             # the same with two letters
    | \*(?P<one>.)                                 # string with one letter
    | (?P<single>.)                                # anything else
    | $                                            # continuation
    )""",
    re.VERBOSE,
)


def plain(text: str) -> str:
    r"""Return the text of a line without its escapes; what has no character is dropped."""
    return _ESCAPE.sub(_character, text)


def words(arguments: str) -> list[str]:
    r"""Return a macro's arguments, plain: separated by spaces, quoted by `"`, doubled inside."""
    found = re.findall(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s"\\])(?:\\.|[^\s\\])*)', arguments)
    return [plain(quoted.replace('""', '"') if quoted else bare) for quoted, bare in found]


def _character(match: re.Match[str]) -> str:
    name = match["long"] or match["two"]
    if name:
        return _named(name)
    return _SINGLE.get(match["single"] or "", "")


def _named(name: str) -> str:
    if name in _NAMED:
        return _NAMED[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}", name):
        return chr(int(name[1:], 16))
    if len(name) == 2 and name[0] in _ACCENTS:
        return f"{name[1]}{_ACCENTS[name[0]]}"
    return ""
