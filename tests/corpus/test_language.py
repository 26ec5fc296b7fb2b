"""Wrong language, wrong script, odd lengths, learnt from a corpus."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.language import ENGLISH, Habits, learn, script_of
from dragoman.corpus.pair import Pair

GERMAN = [
    ("The file is open and you can read it.", "Die Datei ist offen und Sie können sie lesen."),
    ("This is a program for the user.", "Das ist ein Programm für den Benutzer."),
    ("If it is not there, look in the house.", "Wenn es nicht da ist, sehen Sie im Haus nach."),
    ("The window of the program is new.", "Das Fenster von dem Programm ist neu."),
]
RUSSIAN = [
    ("The file is open and you can read it.", "Файл открыт, и вы можете прочитать это."),
    ("This is a program for the user.", "Это программа для пользователя."),
]
JAPANESE = [
    ("The file is open and you can read it.", "ファイルは開いているので読むことができます。"),
    ("This is a program for the user.", "これは利用者のためのプログラムです。"),
]


def habits(texts: list[tuple[str, str]], times: int = 200) -> Habits:
    pairs = [Pair(a, b, "man", "d", ("p",)) for a, b in texts]
    return learn(pairs * times)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("The door is open.", "Die Tür ist offen.", None),
        ("Open", "Öffnen", None),
        ("Open Inventor sample data", "Open-Inventor-Beispieldaten", None),
        ("You lost it.", "Sein oder than.", None),
        ("The door is open.", "The door is now open.", "wrong language"),
        ("The door is open.", "La porte. Is open, this.", "wrong language"),
        ("O servidor responderá " * 4, "Der Server antwortet " * 4, "wrong language"),
        ("Die Tür ist offen und neu.", "Die Tür ist offen und neu.", "wrong language"),
        ("The door is open.", "Дверь открыта.", "wrong script"),
        ("Дверь открыта.", "Die Tür ist offen.", "wrong script"),
        ("The door is open.", "Die Tür ist offen. " * 6, "odd lengths"),
        ("The door is open, and so is the window.", "Ist.", "odd lengths"),
    ],
)
def test_german(source: str, target: str, reason: str | None) -> None:
    assert habits(GERMAN).reason_to_drop(source, target) == reason


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("Дверь открыта.", None),
        ("Дверь Open Office открыта.", None),
        ("The door is open.", "wrong script"),
    ],
)
def test_russian(target: str, reason: str | None) -> None:
    assert habits(RUSSIAN).reason_to_drop("The door is open.", target) == reason


def test_scripts_without_spaces_are_told_by_script_alone() -> None:
    learnt = habits(JAPANESE)
    assert learnt.target.stop_words == frozenset()
    assert learnt.target.script == "CJK"
    assert learnt.ratio < 1
    assert learnt.reason_to_drop("The file is open.", "ファイルは開いています。") is None
    assert learnt.reason_to_drop("The file is open.", "It is open now.") == "wrong script"


def test_a_small_corpus_teaches_no_words() -> None:
    assert habits(GERMAN, 1).target.stop_words == frozenset()
    assert habits(GERMAN, 1).reason_to_drop("The door is open.", "The door is new.") is None


def test_common_words_of_both_languages_tell_nothing() -> None:
    learnt = habits([*GERMAN, ("What was in it?", "Was war in dem Haus?")])
    assert {"was", "in"} <= ENGLISH
    assert not {"was", "in"} & learnt.source.stop_words
    assert not {"was", "in"} & learnt.target.stop_words
    assert {"die", "ist", "und"} <= learnt.target.stop_words


def test_nothing_teaches_nothing() -> None:
    learnt = learn([])
    assert learnt.reason_to_drop("Open", "Öffnen") is None


@pytest.mark.parametrize(
    ("letter", "script"), [("a", "LATIN"), ("ß", "LATIN"), ("я", "CYRILLIC"), ("あ", "CJK"),
                           ("カ", "CJK"), ("漢", "CJK"), ("한", "CJK"), ("ω", "GREEK")]
)  # fmt: skip
def test_scripts(letter: str, script: str) -> None:
    assert script_of(letter) == script


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5), st.text(), st.text())
def test_any_corpus_teaches_something(
    texts: list[tuple[str, str]], source: str, target: str
) -> None:
    reasons = {None, "wrong script", "wrong language", "odd lengths"}
    assert habits(texts, 1).reason_to_drop(source, target) in reasons
