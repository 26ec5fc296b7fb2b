import time
from pathlib import Path

import pytest

from dragoman.server.errors import StartupError
from dragoman.server.listener import methods, options
from dragoman.v1.limits import MAX_MESSAGE_BYTES, MIN_PING_INTERVAL_SECONDS
from tests.server.harness import config, hosted


def test_the_options_that_others_rely_on(tmp_path: Path) -> None:
    found = dict(options(config(tmp_path)))
    assert found["grpc.so_reuseport"] == 0
    assert found["grpc.max_receive_message_length"] == MAX_MESSAGE_BYTES
    assert found["grpc.max_send_message_length"] == MAX_MESSAGE_BYTES
    interval = found["grpc.http2.min_ping_interval_without_data_ms"]
    assert interval == MIN_PING_INTERVAL_SECONDS * 1000
    assert found["grpc.keepalive_permit_without_calls"] == 1
    assert found["grpc.max_connection_age_ms"] == 3_600_000


def test_connections_may_last_for_ever(tmp_path: Path) -> None:
    found = dict(options(config(tmp_path, max_connection_age_seconds=0)))
    assert "grpc.max_connection_age_ms" not in found


def test_every_method_is_known_by_its_path(tmp_path: Path) -> None:
    known = methods(config(tmp_path))
    stream = known["/dragoman.v1.TranslationService/StreamTranslateText"]
    assert (stream.name, stream.type) == ("StreamTranslateText", "server_stream")
    assert known["/grpc.health.v1.Health/Watch"].type == "server_stream"
    reflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    assert known[reflection].type == "bidi_stream"
    assert reflection not in methods(config(tmp_path, reflection=False))


def test_connections_that_are_renewed_lose_no_call(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, max_connection_age_seconds=0.2)) as server:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            assert server.text("one") == "eins"
        peers = {line["peer"] for line in server.log_lines("call")}
        assert len(peers) > 1
        server.assert_at_rest()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "256.0.0.1"])
def test_a_host_that_is_none(tiny_bundle: Path, host: str) -> None:
    settings = config(tiny_bundle, host=host, metrics=False)
    with pytest.raises(StartupError, match=host), hosted(settings):
        pass
