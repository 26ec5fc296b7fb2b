from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.v1 import translation_pb2
from tests.number_words import english
from tests.server.harness import DEADLINE, Hosted, Valve, config, failure, hosted


def check_equal(server: Hosted, text: str, **fields: object) -> None:
    """The stream of a text is its unary translation in pieces."""
    messages = server.stream(text, **fields)
    (unary,) = server.translate(text, **fields).translations
    assert "".join(message.text_delta for message in messages) == unary.text
    assert all(message.text_delta for message in messages[:-1])
    assert [message.HasField("summary") for message in messages[:-1]] == [False] * (
        len(messages) - 1
    )
    summary = messages[-1].summary
    assert summary.finish_reason == unary.finish_reason
    assert summary.log_probability == unary.log_probability
    assert summary.model == server.model().name
    assert summary.usage.source_token_count == unary.usage.source_token_count
    assert summary.usage.target_token_count == unary.usage.target_token_count


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "one",
        "  one\n",
        "four hundred twenty-one\n\n  nine\r\n",
        "\n".join(english(number) for number in range(0, 2000, 37)),
        "🫠 \U00013080 zwölf ﬁne",
    ],
)
def test_a_stream_is_the_unary_translation_in_pieces(server: Hosted, text: str) -> None:
    check_equal(server, text)


def test_a_prefix_is_part_of_the_pieces(server: Hosted) -> None:
    check_equal(server, "four", target_prefix=translation_pb2.TargetPrefix(text="fünf"))
    check_equal(server, "four", target_prefix=translation_pb2.TargetPrefix(text="fünf "))


def test_a_cut_stream_says_so(server: Hosted) -> None:
    options = translation_pb2.DecodingOptions(max_output_token_count=2)
    check_equal(server, "nine thousand nine hundred", decoding_options=options)


def test_pieces_come_one_by_one(server: Hosted) -> None:
    text = "\n".join(english(number) for number in range(1000, 1100))
    assert len(server.stream(text)) > 4


@contextmanager
def held(bundle: Path, text: str, interval: float) -> Iterator[tuple[Hosted, Valve, Any]]:
    """A server that is held after the first step of a stream, its valve and the stream."""
    valve = Valve()
    settings = config(bundle, stream_interval_seconds=interval, default_beam_size=1)
    with hosted(settings, valve.load) as server:
        valve.close()
        request = translation_pb2.StreamTranslateTextRequest(content=text)
        yield server, valve, server.translation.StreamTranslateText(request, timeout=DEADLINE)


def test_tokens_that_come_fast_are_sent_together(tiny_bundle: Path) -> None:
    text = english(7777)
    # The interval is longer than a call may take: the end of the text must not wait for it.
    with held(tiny_bundle, text, interval=60) as (server, valve, call):
        first = next(call)
        valve.open()
        [last] = call
        assert first.text_delta
        assert first.text_delta + last.text_delta == server.text(text)
        lines = server.stream(f"{text}\n{text}")
        assert len(lines) <= 4
        assert "".join(piece.text_delta for piece in lines) == server.text(f"{text}\n{text}")


def test_each_token_is_sent_as_it_comes_where_that_is_wanted(tiny_bundle: Path) -> None:
    with held(tiny_bundle, english(7777), interval=0) as (server, valve, call):
        pieces = []
        for _ in range(3):
            pieces.append(next(call).text_delta)
            valve.let_step()
        valve.open()
        rest = [piece.text_delta for piece in call]
        assert "".join(pieces + rest) == server.text(english(7777))


def test_a_stream_that_waits_for_more_tokens_ends_with_the_server(tiny_bundle: Path) -> None:
    with held(tiny_bundle, english(7777), interval=60) as (_, valve, call):
        assert next(call).text_delta
        valve.error = RuntimeError("the graph is gone")
        valve.open()
        assert failure(lambda: list(call)).code == "UNAVAILABLE"


def test_the_text_is_checked(server: Hosted) -> None:
    refused = failure(lambda: server.stream("one\n" + "two " * 1000))
    assert refused.code == "INVALID_ARGUMENT"
    assert refused.violations[0][0] == "content"
    assert "in line 2" in refused.message


def test_a_reader_that_leaves_frees_its_rows(server: Hosted) -> None:
    request = translation_pb2.StreamTranslateTextRequest(
        content="\n".join(english(number) for number in range(500))
    )
    call = server.translation.StreamTranslateText(request, timeout=DEADLINE)
    assert next(call).text_delta
    call.cancel()
    server.assert_at_rest()
