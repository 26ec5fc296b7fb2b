"""English -> German number words: a language pair that a tiny Transformer can master."""

from __future__ import annotations

import random

_EN = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_DE = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_DE_TENS = [
    "-",
    "-",
    "zwanzig",
    "dreißig",
    "vierzig",
    "fünfzig",
    "sechzig",
    "siebzig",
    "achtzig",
    "neunzig",
]


def english(number: int) -> str:
    """Spell 0..9999 in English."""
    if number < 20:
        return _EN[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _EN_TENS[tens] + (f"-{_EN[rest]}" if rest else "")
    size, word = (1000, "thousand") if number >= 1000 else (100, "hundred")
    head, rest = divmod(number, size)
    return f"{_EN[head]} {word}" + (f" {english(rest)}" if rest else "")


def german(number: int) -> str:
    """Spell 0..9999 in German."""
    if number < 20:
        return _DE[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        unit = "ein" if rest == 1 else _DE[rest]
        return (f"{unit}und" if rest else "") + _DE_TENS[tens]
    size, word = (1000, "tausend") if number >= 1000 else (100, "hundert")
    head, rest = divmod(number, size)
    unit = "ein" if head == 1 else _DE[head]
    return unit + word + (german(rest) if rest else "")


def split(held_out: int = 400) -> tuple[list[int], list[int]]:
    """Return (numbers to train on, held-out numbers), drawn with a fixed seed."""
    numbers = list(range(10_000))
    random.Random(7).shuffle(numbers)
    return numbers[held_out:], numbers[:held_out]


def tsv(numbers: list[int]) -> str:
    """Return lines of English, German and an origin, as the training reads them."""
    return "".join(f"{english(number)}\t{german(number)}\tnumbers\n" for number in numbers)
