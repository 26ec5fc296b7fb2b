import asyncio
import io
import json
import logging
from typing import Any

import pytest

from dragoman.server import Config
from dragoman.server.logs import BUFFER_SECONDS, LineBuffer, build_logger, forwarding


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_each_line_is_one_json_object() -> None:
    stream = io.StringIO()
    logger = build_logger(Config(), stream)
    logger.info("start", port=1, text="zwölf\n\u2028")
    (line,) = lines(stream)
    assert line["event"] == "start"
    assert line["level"] == "info"
    assert line["text"] == "zwölf\n\u2028"
    assert line["timestamp"].endswith("Z")


def test_levels_below_the_set_one_are_left_out() -> None:
    stream = io.StringIO()
    logger = build_logger(Config(log_level="warning"), stream)
    logger.info("no")
    logger.warning("yes")
    assert [line["event"] for line in lines(stream)] == ["yes"]


def test_errors_carry_their_traceback_in_the_line() -> None:
    stream = io.StringIO()
    logger = build_logger(Config(), stream)
    logger.error("broken", exc_info=ValueError("why"))
    assert "ValueError: why" in lines(stream)[0]["exception"]


def test_console_form_is_for_people() -> None:
    stream = io.StringIO()
    build_logger(Config(log_format="console"), stream).info("start", port=1)
    assert "port=1" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_library_warnings_come_through(caplog: pytest.LogCaptureFixture) -> None:
    stream = io.StringIO()
    logger = build_logger(Config(), stream)
    with forwarding(logger):
        logging.getLogger("grpc").error("lost %s", "call")
        logging.getLogger("grpc").warning("odd")
        logging.getLogger("grpc").info("quiet")
    logging.getLogger("grpc").error("after")
    assert [(line["level"], line["message"]) for line in lines(stream)] == [
        ("error", "lost call"),
        ("warning", "odd"),
    ]


async def test_lines_of_a_loop_are_written_together() -> None:
    stream = io.StringIO()
    buffer = LineBuffer(stream)
    logger = build_logger(Config(), buffer)
    logger.info("one")
    logger.info("two")
    assert stream.getvalue() == ""
    await asyncio.sleep(2 * BUFFER_SECONDS)
    assert [line["event"] for line in lines(stream)] == ["one", "two"]
    logger.info("three")
    buffer.drain()
    assert [line["event"] for line in lines(stream)] == ["one", "two", "three"]


def test_lines_of_other_threads_are_written_at_once() -> None:
    stream = io.StringIO()
    build_logger(Config(), LineBuffer(stream)).info("one")
    assert [line["event"] for line in lines(stream)] == ["one"]
