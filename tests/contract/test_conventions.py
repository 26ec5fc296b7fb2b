"""Rules of the contract that buf does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from dragoman.engine import DecodingOptions, SamplingOptions, Term, decoding
from dragoman.v1 import limits, model_pb2, translation_pb2
from dragoman.v1.errors import DOMAIN, ErrorReason

PROTOS = Path(__file__).parents[2] / "protos" / "dragoman" / "v1"
UNSIGNED = {
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED32,
    FieldDescriptor.TYPE_FIXED64,
}


def messages() -> Iterator[Descriptor]:
    for module in (model_pb2, translation_pb2):
        yield from module.DESCRIPTOR.message_types_by_name.values()


def fields() -> Iterator[FieldDescriptor]:
    for message in messages():
        yield from message.fields


def text(name: str) -> str:
    """A ``.proto`` file with its comments joined to single lines."""
    return re.sub(r"\n\s*//", "", (PROTOS / f"{name}.proto").read_text())


def test_no_unsigned_integers_and_counts_named_as_such() -> None:
    for field in fields():
        assert field.type not in UNSIGNED, field.full_name
        assert not field.name.startswith("num_"), field.full_name


@pytest.mark.parametrize("module", [model_pb2, translation_pb2])
def test_enums_begin_with_unspecified(module: object) -> None:
    for enum in module.DESCRIPTOR.enum_types_by_name.values():  # type: ignore[attr-defined]
        assert enum.values_by_number[0].name.endswith("_UNSPECIFIED")


def test_every_field_of_a_request_says_whether_it_is_needed() -> None:
    for name in ("translation", "model"):
        source = (PROTOS / f"{name}.proto").read_text()
        for request in re.findall(
            r"^message \w+Request \{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL
        ):
            plain = re.sub(r"^  oneof .*?^  \}\n", "", request, flags=re.MULTILINE | re.DOTALL)
            for comment in re.findall(r"((?:^  // .*\n)+)  [^/]", plain, re.MULTILINE):
                assert comment.startswith(("  // Required.", "  // Optional.")), comment


@pytest.mark.parametrize(
    "sentence",
    [
        f"The texts, 1 to {limits.MAX_CONTENT_COUNT}.",
        f"0 to {limits.MAX_PREFIX_COUNT} prefixes",
        f"Range: 1 to {limits.MAX_TOP_K}, and at most the model's `vocabulary_size`. "
        f"Default: {limits.DEFAULT_TOP_K}.",
        f"to return for each prefix, 0 to {limits.MAX_QUERIED_TOKEN_COUNT}.",
        f"The translations to score, 1 to {limits.MAX_SCORED_COUNT}.",
        f"A message of more than {limits.MAX_MESSAGE_BYTES >> 20} MiB is refused",
        f"pings {limits.MIN_PING_INTERVAL_SECONDS} seconds apart",
        f'the domain "{DOMAIN}"',
    ],
)
def test_the_comments_and_the_constants_say_the_same(sentence: str) -> None:
    assert sentence in text("translation")


@pytest.mark.parametrize(
    ("message", "field", "sentence"),
    [
        (
            "DecodingOptions",
            "max_output_token_count",
            f"{decoding.SPARE_TOKENS} tokens and {decoding.TOKENS_PER_SOURCE_TOKEN} for each",
        ),
        ("DecodingOptions", "beam_size", f"Range: 1 to {decoding.MAX_BEAM_SIZE}, and at most"),
        ("DecodingOptions", "beam_size", f"which is {limits.DEFAULT_BEAM_SIZE} unless"),
        ("DecodingOptions", "length_penalty", f"Default: {DecodingOptions().length_penalty}."),
        ("DecodingOptions", "patience", f"Range: 0 to {decoding.MAX_PATIENCE:.0f}."),
        ("DecodingOptions", "patience", f"Default: {DecodingOptions().patience}."),
        ("DecodingOptions", "pruning_margin", f"Range: 0 to {decoding.MAX_PRUNING_MARGIN:.0f}."),
        ("DecodingOptions", "pruning_margin", f"Default: {DecodingOptions().pruning_margin}."),
        ("DecodingOptions", "repetition_penalty", "Range: 0.1 to 10. Default: 1."),
        ("DecodingOptions", "no_repeat_ngram_size", f"Range: 0 to {decoding.MAX_NGRAM_SIZE}."),
        ("DecodingOptions", "suppressed_token_ids", f"0 to {decoding.MAX_SUPPRESSED_IDS}, besides"),
        ("DecodingOptions", "alternative_count", f"Range: 0 to {decoding.MAX_ALTERNATIVES}."),
        ("DecodingOptions", "terms", f"0 to {decoding.MAX_TERMS} terms"),
        ("Sampling", "temperature", f"Default: {SamplingOptions().temperature:.0f}."),
        ("Sampling", "top_k", f"Range: 0 to {decoding.MAX_SAMPLING_TOP_K}. Default: 0."),
        ("Sampling", "sample_count", f"Range: 1 to {decoding.MAX_SAMPLES}."),
        ("Term", "targets", f"wordings, 1 to {limits.MAX_TARGET_COUNT},"),
        ("Term", "source", f"of at most {limits.MAX_TERM_CHARACTERS} characters."),
        ("Term", "targets", f"of at most {limits.MAX_TERM_CHARACTERS} characters."),
        ("Term", "bonus", f"Range: 0 to {decoding.MAX_BONUS:.0f}. Default: {Term(()).bonus:.0f}."),
    ],
)
def test_the_comments_and_the_engine_say_the_same(message: str, field: str, sentence: str) -> None:
    (body,) = re.findall(
        rf"^message {message} \{{(.*?)^\}}", text("translation"), re.MULTILINE | re.DOTALL
    )
    (comment,) = re.findall(rf"^([^\n]*)\n  [\w ]+ {field} = ", body, re.MULTILINE)
    assert sentence in comment
    assert limits.MAX_TERM_COUNT == decoding.MAX_TERMS
    assert 2 * limits.MAX_TARGET_COUNT <= decoding.MAX_TERM_TARGETS


def test_page_sizes() -> None:
    assert f"counts as {limits.MAX_PAGE_SIZE}. Default (0): {limits.DEFAULT_PAGE_SIZE}." in text(
        "model"
    )


def test_every_reason_is_described() -> None:
    described = re.findall(r"- ([A-Z_]+) \(", text("translation"))
    assert described == [reason.value for reason in ErrorReason]
