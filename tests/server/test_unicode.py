"""Whatever a text holds, the answer is OK or INVALID_ARGUMENT, and the stream says the same."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.v1 import translation_pb2
from tests.server.harness import DEADLINE, Failure, Hosted, failure, outcome

TEXTS = st.text(max_size=40) | st.text(
    alphabet=st.sampled_from(" \t\n\r\x00\x0b\x85\u2028\u2581<>/spad one\u200d\ufe0f👩💻é"),
    max_size=40,
)
OPTIONS = translation_pb2.DecodingOptions(max_output_token_count=12)


def accepted(call: Callable[[], str]) -> str | None:
    """The text that a call gives, or None where it was refused as it should be."""
    result = outcome(call)
    if isinstance(result, Failure):
        assert result.code == "INVALID_ARGUMENT", result
        assert result.violations
        return None
    return result


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_unary_and_stream_agree(shared_server: Hosted, text: str) -> None:
    unary = accepted(
        lambda: shared_server.translate(text, decoding_options=OPTIONS).translations[0].text
    )
    stream = accepted(
        lambda: "".join(
            message.text_delta for message in shared_server.stream(text, decoding_options=OPTIONS)
        )
    )
    assert unary == stream
    if not text.strip():
        assert unary == text


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, prefix=TEXTS)
def test_next_token(shared_server: Hosted, text: str, prefix: str) -> None:
    prefixes = [translation_pb2.TargetPrefix(text=prefix)]
    accepted(lambda: str(shared_server.predict(text=text, target_prefixes=prefixes)))


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=60))
def test_any_bytes_as_a_request(shared_server: Hosted, data: bytes) -> None:
    for method in ("TranslateText", "PredictNextToken"):
        result = outcome(lambda method=method: raw(shared_server, method, data))  # type: ignore[misc]
        if isinstance(result, Failure):
            assert result.code in {"INVALID_ARGUMENT", "NOT_FOUND"}


@pytest.mark.parametrize("data", [b"\x12\x02\xff\xfe", b"\x0a\x01\xff", b"\xff", b"\x12\x05a"])
def test_bytes_that_are_no_message(server: Hosted, data: bytes) -> None:
    refused = failure(lambda: raw(server, "TranslateText", data))
    assert refused.code == "INVALID_ARGUMENT"
    assert refused.reason == "INVALID_ENCODING"
    assert "TranslateTextRequest" in refused.message


def raw(server: Hosted, method: str, data: bytes) -> bytes:
    """Send bytes as they are."""
    call: Any = server.channel.unary_unary(f"/dragoman.v1.TranslationService/{method}")
    answer: bytes = call(data, timeout=DEADLINE)
    return answer


def test_a_nul_is_a_character_like_others(server: Hosted) -> None:
    assert server.translate("one\x00two").translations[0].finish_reason
