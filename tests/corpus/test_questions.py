"""debconf's templates."""

from __future__ import annotations

from dragoman.corpus.locales import Locale
from dragoman.corpus.questions import read_questions

TEMPLATES = """\
Template: hello/greet
Type: select
Choices: Yes, No\\, never
Choices-de.UTF-8: Ja, Nein\\, nie
Choices-fr.UTF-8: Oui
Description: Greet people?
 People like to be
 greeted.
 .
 Most of them.
Description-de.UTF-8: Leute grüßen?
 Leute werden gerne gegrüßt.
 .
 Die meisten.
Description-fr.UTF-8: Saluer ?
 Un seul paragraphe.

Template: hello/title
Type: title
Description: Hello
Description-de.UTF-8: Hallo

Template: hello/secret
Type: boolean
Default: true
Description: Not translated
"""


def test_questions_with_explanations_and_choices() -> None:
    assert list(read_questions(TEMPLATES, Locale("de"))) == [
        ("Greet people?", "Leute grüßen?"),
        ("People like to be greeted.", "Leute werden gerne gegrüßt."),
        ("Most of them.", "Die meisten."),
        ("Yes", "Ja"),
        ("No, never", "Nein, nie"),
    ]


def test_other_structure_leaves_the_synopsis() -> None:
    assert list(read_questions(TEMPLATES, Locale("fr"))) == [
        ("Greet people?", "Saluer ?"),
    ]


def test_no_translation_no_pairs() -> None:
    assert list(read_questions(TEMPLATES, Locale("es"))) == []
    assert list(read_questions("", Locale("de"))) == []
