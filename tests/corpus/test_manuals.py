"""Manual pages: roff's escapes, the man macros, and the alignment by structure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.blocks import Block, align
from dragoman.corpus.roff import read_page
from dragoman.corpus.roff_text import plain, words

ENGLISH = r""".\" a comment
.de XX
.ds nothing to read
..
.if n \{\
.nh
.\}
.TH LS 1 "May 2022" "tools"
.SH NAME
ls \- list directory contents
.SH "DESCRIPTION"
List information about the FILEs
.RI ( "the current directory" " by default)."
.PP
See
.BR stat (2)
too.
.TP
.B \-a
show all
.IP \(bu 2
an item
.nf
   code {
.fi
.SS
Notes
The
.B end
"""
GERMAN = r""".TH LS 1 "Mai 2022" "Werkzeuge"
.SH BEZEICHNUNG
ls \- Verzeichnisinhalte auflisten
.SH BESCHREIBUNG
Informationen über die DATEIen auflisten (\fIdas aktuelle Verzeichnis\fP).
.PP
Siehe auch \fBstat\fP(2).
.TP
\fB\-a\fP
alle anzeigen
.IP \(bu 2
ein Punkt
.nf
   Kode {
.fi
.SS Hinweise
Das \fBEnde\fP
.SH ÜBERSETZUNG
Niemand.
"""
HEADING, TERM = "heading", "term"


def test_a_page_becomes_blocks() -> None:
    assert read_page(ENGLISH.encode()) == [
        Block(HEADING, "NAME"),
        Block("paragraph", "ls - list directory contents"),
        Block(HEADING, "DESCRIPTION"),
        Block("paragraph", "List information about the FILEs (the current directory by default)."),
        Block("paragraph", "See stat(2) too."),
        Block(TERM, "-a"),
        Block("paragraph", "show all"),
        Block(TERM, "•"),
        Block("paragraph", "an item"),
        Block("verbatim", ""),
        Block("heading2", "Notes"),
        Block("paragraph", "The end"),
    ]


def test_pages_are_aligned_and_the_translators_section_left_out() -> None:
    found = align(read_page(ENGLISH.encode()), read_page(GERMAN.encode()))
    assert len(found) == 11
    assert ("show all", "alle anzeigen") in found
    assert ("Notes", "Hinweise") in found


def test_a_section_of_other_structure_leaves_its_heading() -> None:
    other = GERMAN.replace(".IP \\(bu 2\nein Punkt\n", "")
    found = align(read_page(ENGLISH.encode()), read_page(other.encode()))
    assert ("DESCRIPTION", "BESCHREIBUNG") in found
    assert ("show all", "alle anzeigen") not in found
    assert ("The end", "Das Ende") in found


def test_another_number_of_sections_is_no_translation() -> None:
    assert align(read_page(ENGLISH.encode()), read_page(b".TH A 1\n.SH X\ny\n")) == []


@pytest.mark.parametrize(
    "page", [b"", b".so man1/ls.1", b".Dd May 1\n.Dt LS 1\n.Sh NAME\n.Nm ls\n"]
)
def test_links_and_mdoc_have_no_blocks(page: bytes) -> None:
    assert read_page(page) == []


def test_latin_pages_are_read() -> None:
    assert read_page(".TH A 1\n.SH Ü\n".encode("latin-1")) == [Block(HEADING, "Ü")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\fBls\fP \-\-all", "ls --all"),
        (r"\f(CWx\fR \f[I]y\f[]", "x y"),
        (r"\s-1BIG\s0 \s+2x\s0", "BIG x"),
        (r"a\ b\~c\0d\|e\&f\/g", "a b c defg"),
        (r"\(lqq\(rq \[aq]x\[aq] \(bu", "“q” 'x' •"),
        (r"\[u00E4] \(:a \e \\", "ä a\u0308 \\ \\"),
        ('\\*(L"x\\*(R" \\*(dqy', '“x” "y'),
        (r"text \" comment", "text "),
        (r"\h'2n'x\w'abc'y\m[blue]z\m[]", "xyz"),
        (r"c\c", "c"),
        (r"\(xy\(zz", ""),
    ],
)
def test_escapes(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_arguments_of_macros() -> None:
    assert words(r'a "b c" \-d "e ""f""" g\ h') == ["a", "b c", "-d", 'e "f"', "g h"]
    assert words("") == []


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    plain(text)
    words(text)
    for block in read_page(b".TH A 1\n" + text.encode("utf-8", "replace")):
        assert block.kind == "verbatim" or block.text == " ".join(block.text.split())
