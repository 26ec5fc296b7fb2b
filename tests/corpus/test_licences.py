"""Licences out of copyright files."""

from __future__ import annotations

import pytest

from dragoman.corpus.licences import UNSTATED, licence

STATED = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hello

Files: *
Copyright: 2000 Somebody
License: GPL-3+
 Long text.

Files: lib/*
Copyright: 2000 Somebody
License: MIT

Files: po/de.po doc/*
Copyright: 2000 Somebody
License: GFDL-1.3+  or CC-BY-SA-4.0

License: GPL-3+
 On Debian systems see /usr/share/common-licenses/GPL-3
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STATED, "GPL-3+; GFDL-1.3+ or CC-BY-SA-4.0"),
        (STATED.replace("Files: *", "Files: src/*"), "GFDL-1.3+ or CC-BY-SA-4.0; GPL-3+; MIT"),
        ("See /usr/share/common-licenses/GPL-2 and\n/usr/share/common-licenses/LGPL-2.1.",
         "GPL-2; LGPL-2.1"),
        ("You may do anything.", UNSTATED),
        ("", UNSTATED),
    ],
)  # fmt: skip
def test_licences(text: str, expected: str) -> None:
    assert licence(text) == expected
