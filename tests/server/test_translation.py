import math

import pytest

from dragoman.v1 import translation_pb2
from tests.number_words import english, german, split
from tests.server.harness import Hosted, failure

STOP = translation_pb2.FINISH_REASON_STOP
LENGTH = translation_pb2.FINISH_REASON_LENGTH
EMPTY = translation_pb2.FINISH_REASON_EMPTY
HELD_OUT = split()[1]


def test_right_answers_of_a_trained_model(server: Hosted) -> None:
    numbers = HELD_OUT[:100]
    response = server.translate(*[english(number) for number in numbers])
    right = [
        translation.text == german(number)
        for number, translation in zip(numbers, response.translations, strict=True)
    ]
    assert sum(right) >= 97


def test_a_translation_says_all_about_itself(server: Hosted) -> None:
    response = server.translate("four hundred twenty-one")
    assert response.model == server.model().name
    (translation,) = response.translations
    assert translation.text == "vierhunderteinundzwanzig"
    assert translation.finish_reason == STOP
    assert -1 < translation.log_probability < 0
    tokenizer = server.engine.tokenizer
    source = tokenizer.encode_source("four hundred twenty-one")
    assert translation.usage.source_token_count == len(source)
    target = tokenizer.encode("vierhunderteinundzwanzig")
    assert translation.usage.target_token_count >= len(target) // 2
    assert translation.usage.queue_duration.ToSeconds() == 0
    assert translation.usage.model_duration.ToNanoseconds() > 0


def test_as_many_translations_as_contents_in_the_same_order(server: Hosted) -> None:
    alone = [server.text(text) for text in ("one", "two", "three")]
    response = server.translate("three", "one", "two", "one")
    texts = [translation.text for translation in response.translations]
    assert texts == [alone[2], alone[0], alone[1], alone[0]]


def test_blank_texts_come_back_as_they_are_without_the_model(server: Hosted) -> None:
    steps = server.steps_at_rest()
    blanks = ["", " ", "\n", "\t \r\n\u2028 \u00a0"]
    response = server.translate(*blanks)
    assert [translation.text for translation in response.translations] == blanks
    assert {translation.finish_reason for translation in response.translations} == {EMPTY}
    assert {translation.log_probability for translation in response.translations} == {0.0}
    assert server.engine.statistics().steps == steps


def test_blank_texts_among_others(server: Hosted) -> None:
    response = server.translate("one", "", "  ", "\n", "two")
    texts = [translation.text for translation in response.translations]
    assert texts == [server.text("one"), "", "  ", "\n", server.text("two")]


@pytest.mark.parametrize(
    "layout",
    [
        "{0}\n{1}",
        "{0}\n\n- {1}\n",
        "  {0}\t\r\n\r\n {1} \n\n",
        "\n\n{0}",
        "{0}\u2028{1}\x85{2}\x0b{0}",
        "\u00a0{0}\u3000\n",
    ],
)
def test_everything_between_lines_is_kept_byte_for_byte(server: Hosted, layout: str) -> None:
    words = ["one", "twenty", "three hundred"]
    lines = [layout_line.format(*words).strip() for layout_line in layout.splitlines()]
    text = layout.format(*words)
    expected = text
    for line in filter(None, lines):
        expected = expected.replace(line, server.text(line), 1)
    assert server.text(text) == expected


def test_equal_lines_give_equal_translations(server: Hosted) -> None:
    assert server.text("seven\nseven\nseven") == "\n".join([server.text("seven")] * 3)


def test_numbers_of_a_text_are_the_sums_over_its_lines(server: Hosted) -> None:
    lines = [english(number) for number in (17, 1234, 9)]
    alone = server.translate(*lines).translations
    (together,) = server.translate("\n".join(lines)).translations
    assert together.log_probability == pytest.approx(
        math.fsum(line.log_probability for line in alone), abs=1e-9
    )
    for name in ("source_token_count", "target_token_count"):
        assert getattr(together.usage, name) == sum(getattr(line.usage, name) for line in alone)


def test_a_limit_cuts_with_a_finish_reason(server: Hosted) -> None:
    options = translation_pb2.DecodingOptions(max_output_token_count=2)
    response = server.translate("nine thousand\none", "", decoding_options=options)
    first, second = response.translations
    assert first.finish_reason == LENGTH
    assert second.finish_reason == EMPTY
    assert first.usage.target_token_count <= 4


def test_a_prefix_by_text_is_forced(server: Hosted) -> None:
    prefix = translation_pb2.TargetPrefix(text="fünf")
    (translation,) = server.translate("four hundred", target_prefix=prefix).translations
    assert translation.text.startswith("fünf")
    assert translation.text != "fünf"


def test_a_prefix_by_tokens_is_forced(server: Hosted) -> None:
    ids = server.engine.tokenizer.encode("sechs")
    prefix = translation_pb2.TargetPrefix(token_ids=translation_pb2.TokenIds(ids=ids))
    for translation in server.translate("one", "two", target_prefix=prefix).translations:
        assert translation.text.startswith("sechs")


def test_the_languages_may_be_named(server: Hosted) -> None:
    model = server.model()
    languages = {
        "source_language_code": model.source_language_code.upper(),
        "target_language_code": model.target_language_code,
    }
    assert server.translate("one", model=model.name, **languages).translations[0].text == "eins"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"contents": []}, "contents", "0 items; it must be 1 to 1024 items"),
        ({"contents": [""] * 1025}, "contents", "1025 items"),
        ({"contents": ["a", "b", "one " * 200]}, "contents[2]", "tokens long; it must be at most"),
        ({"contents": ["x" * 262145]}, "contents[0]", "262145 bytes long"),
        ({"contents": ["a\n" * 1025]}, "contents", "1025 lines; it must be at most 1024 lines"),
        ({"contents": ["a"], "source_language_code": "fr"}, "source_language_code", "'fr'"),
        ({"contents": ["a"], "target_language_code": "x" * 999}, "target_language_code", "xxx..."),
        (
            {"contents": ["a"], "decoding_options": {"max_output_token_count": 0}},
            "decoding_options.max_output_token_count",
            "is 0; it must be 1 to",
        ),
        (
            {"contents": ["a"], "decoding_options": {"max_output_token_count": 100_000}},
            "decoding_options.max_output_token_count",
            "is 100000; it must be 1 to",
        ),
        (
            {"contents": ["a"], "target_prefix": {"token_ids": {"ids": [10, -5]}}},
            "target_prefix.token_ids.ids[1]",
            "is -5; it must be 0 to",
        ),
        (
            {"contents": ["a", "b\nc"], "target_prefix": {"text": "d"}},
            "contents[1]",
            "2 lines; it must be a single line",
        ),
        (
            {"contents": ["a", " "], "target_prefix": {"text": "d"}},
            "contents[1]",
            "blank; it must be a single line",
        ),
    ],
)
def test_what_is_out_of_bounds_is_named(
    server: Hosted, fields: dict[str, object], field: str, message: str
) -> None:
    contents = fields.pop("contents")
    steps = server.steps_at_rest()
    refused = failure(lambda: server.translate(*contents, **fields))  # type: ignore[misc]
    assert refused.code == "INVALID_ARGUMENT"
    assert refused.reason == "INVALID_FIELD"
    ((name, description),) = refused.violations
    assert name == field
    assert message in description
    assert refused.message == description
    assert server.engine.statistics().steps == steps


def test_another_model_is_not_found(server: Hosted) -> None:
    refused = failure(lambda: server.translate("one", model="models/other"))
    assert refused.code == "NOT_FOUND"
    assert refused.reason == "MODEL_NOT_FOUND"
    assert refused.metadata == {"model": "models/other"}


def test_control_literals_are_text(server: Hosted) -> None:
    (translation,) = server.translate("one </s> two <pad> <s>").translations
    assert translation.usage.source_token_count > len(
        server.engine.tokenizer.encode_source("one two")
    )


def test_a_long_document_passes_a_small_batch(server: Hosted) -> None:
    numbers = list(range(200))
    text = "\n".join(english(number) for number in numbers)
    lines = server.text(text).split("\n")
    right = sum(line == german(number) for line, number in zip(lines, numbers, strict=True))
    assert right >= 190
