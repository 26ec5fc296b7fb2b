"""Help pages: Mallard, DocBook, HTML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.blocks import Block, align
from dragoman.corpus.markup import read_markup

MALLARD = """<?xml version="1.0" encoding="utf-8"?>
<page xmlns="http://projectmallard.org/1.0/" type="topic" id="a">
  <info><desc>hidden</desc></info>
  <title>Open a <em>file</em></title>
  <p>Press <key>Enter</key>,
     then wait.</p>
  <screen>make all</screen>
  <list><item><p>one</p></item><item><p>two &amp; three</p></item></list>
</page>"""
DOCBOOK = """<chapter><title>Start</title><para>Use &kapp; now.</para>
<para>Then stop.</para></chapter>"""
HTML = """<html><head><title>Fill</title><style>p {}</style></head>
<body><nav>menu</nav><h2>Fill cells</h2><p>First<br>second</p><p>???TITLE???</p>
<table><tr><th>Key</th><td>Value&nbsp;1</td></tr></table>
<footer><p>debug</p></footer></body></html>"""


def texts(page: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in read_markup(page.encode())]


def test_mallard() -> None:
    assert texts(MALLARD) == [
        ("heading", "Open a file"),
        ("p", "Press Enter, then wait."),
        ("listing", ""),
        ("p", "one"),
        ("p", "two & three"),
    ]


def test_an_entity_of_the_book_alone_blanks_its_block() -> None:
    assert texts(DOCBOOK) == [("heading", "Start"), ("p", ""), ("p", "Then stop.")]


def test_html() -> None:
    assert texts(HTML) == [
        ("heading", "Fill"),
        ("listing", ""),
        ("heading", "Fill cells"),
        ("p", "First"),
        ("p", "second"),
        ("p", ""),
        ("cell", "Key"),
        ("cell", "Value 1"),
    ]


def test_pages_are_aligned() -> None:
    german = MALLARD.replace("one", "eins").replace("Open a", "Öffnen").replace("then", "dann")
    found = align(read_markup(MALLARD.encode()), read_markup(german.encode()))
    assert ("one", "eins") in found
    assert ("Open a file", "Öffnen file") in found
    shorter = german.replace("<item><p>eins</p></item>", "")
    assert align(read_markup(MALLARD.encode()), read_markup(shorter.encode())) == [
        ("Open a file", "Öffnen file")
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_encodings_are_as_declared(encoding: str) -> None:
    page = f'<?xml version="1.0" encoding="{encoding}"?><p>grün</p>'
    assert read_markup(page.encode(encoding)) == [Block("p", "grün")]


def test_an_unknown_encoding_is_read_all_the_same() -> None:
    assert read_markup(b'<meta charset="nonsense"><p>x\xe4</p>') == [Block("p", "xä")]


@given(st.binary(max_size=200), st.text(max_size=100))
def test_anything_is_read(noise: bytes, text: str) -> None:
    for content in (noise, f"<p>{text}</p><!{text}><&{text};".encode("utf-8", "replace")):
        for block in read_markup(content):
            assert block.text == " ".join(block.text.split())
