"""What must be carried over: the definitions, case by case."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.evaluation.rates import Rate
from dragoman.evaluation.survival import Find, addresses, numbers, placeholders, survival

PLACEHOLDERS = (
    "%s",
    "%d",
    "%1$d",
    "%2$s",
    "%-5.2f",
    "%02x",
    "%.*s",
    "%llu",
    "%1",
    "%L2",
    "%(id)s",
    "%(size).1f",
    "{name}",
    "{}",
    "{0}",
    "{{x}}",
    "{{ count }}",
    "${VAR}",
    "$HOME",
)
ADDRESSES = (
    "https://example.org",
    "http://example.org:8080/a/b?c=%20d&e={f}#g",
    "ftp://example.org/100%25",
    "www.example.org/path",
    "mailto:who@example.org",
    "first.last+tag@mail.example.org",
)


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_each_sort_of_placeholder_is_found_whole(text: str) -> None:
    assert placeholders(f"Copied {text} of all") == Counter([text])
    assert placeholders(f"({text})") == Counter([text])


@pytest.mark.parametrize(
    "text",
    ["100% sure", "50 % der", "100%of", "20%ige", "100%%", "$5", "US$ 10", "a { b }", "100", "%"],
)
def test_what_only_looks_like_a_placeholder(text: str) -> None:
    assert placeholders(text) == Counter()


def test_placeholders_in_a_row_are_told_apart() -> None:
    assert placeholders("%1%2%s%d{a}{b}") == Counter(["%1", "%2", "%s", "%d", "{a}", "{b}"])


@given(st.lists(st.sampled_from(PLACEHOLDERS)))
def test_placeholders_are_counted(texts: list[str]) -> None:
    assert placeholders(" and ".join(texts)) == Counter(texts)


@pytest.mark.parametrize("text", ADDRESSES)
@pytest.mark.parametrize("frame", ["See {}.", "<{}>", "({})", '"{}"', "„{}“", "{}, and", "{}"])
def test_addresses_lose_what_stands_around_them(frame: str, text: str) -> None:
    assert addresses(frame.replace("{}", text)) == Counter([text])


@pytest.mark.parametrize("text", ["a@b", "user@", "@everyone", "http:", "://", "example.org", ""])
def test_what_is_no_address(text: str) -> None:
    assert addresses(text) == Counter()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 1998.", ["1998"]),
        ("1,000.5 and 1.000,5", ["10005", "10005"]),
        ("10'000 or 10\u202f000 or 10\u2019000", ["10000", "10000", "10000"]),
        ("12:30-14", ["12", "30", "14"]),
        ("x86_64 and Perl5", ["86", "64", "5"]),
        ("no digits", []),
        ("100% of 50%d", ["100", "50"]),
    ],
)
def test_numbers_are_digits_without_separators(text: str, expected: list[str]) -> None:
    assert numbers(text) == Counter(expected)


@given(st.integers(0, 10**15))
def test_both_ways_to_write_thousands_are_one_number(number: int) -> None:
    english = f"{number:,}"
    assert numbers(english) == numbers(english.replace(",", ".")) == Counter([str(number)])


@pytest.mark.parametrize("text", [*PLACEHOLDERS, *ADDRESSES])
def test_digits_of_placeholders_and_addresses_are_no_numbers(text: str) -> None:
    assert numbers(f"Copy {text} now") == Counter()


@pytest.mark.parametrize("text", ADDRESSES)
def test_what_is_part_of_an_address_is_no_placeholder(text: str) -> None:
    assert placeholders(f"See {text} now") == Counter()


def test_a_piece_counts_as_often_as_the_source_has_it() -> None:
    sources = ["%s of %s", "%d files", "no more"]
    assert survival(placeholders, sources, ["%s von", "%d", "%s"]) == Rate(2, 3)
    assert survival(placeholders, sources, ["%s %s %s", "%d %d", ""]) == Rate(3, 3)
    assert survival(placeholders, sources, ["%d", "%s", ""]) == Rate(0, 3)


def test_nothing_to_carry_over_gives_no_rate() -> None:
    assert survival(numbers, ["no", "none"], ["1", "2"]).value is None
    assert Rate(1, 4).to_dict() == {"count": 1, "total": 4, "rate": 0.25}


@pytest.mark.parametrize("find", [placeholders, numbers, addresses])
@given(texts=st.lists(st.text() | st.sampled_from(PLACEHOLDERS + ADDRESSES)))
def test_a_copy_keeps_everything_and_nothing_keeps_nothing(find: Find, texts: list[str]) -> None:
    kept = survival(find, texts, texts)
    assert kept.count == kept.total
    assert survival(find, texts, [""] * len(texts)) == Rate(0, kept.total)
