from pathlib import Path

from dragoman.server.interceptors.access_log import note
from tests.server.harness import Hosted, config, eventually, failure, hosted


def call_lines(server: Hosted, count: int) -> list[dict[str, object]]:
    assert eventually(lambda: len(server.log_lines("call")) >= count)
    return server.log_lines("call")


def test_a_line_for_each_call_without_texts(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle)) as server:
        server.translate("four hundred", "", "one\ntwo")
        server.stream("four hundred")
        server.predict(text="four hundred")
        failure(lambda: server.translate("one", model="models/other"))
        server.status()
        unary, stream, predict, refused = call_lines(server, 4)
        assert unary["method"] == "dragoman.v1.TranslationService/TranslateText"
        assert unary["code"] == "OK"
        assert (unary["content_count"], unary["line_count"]) == (3, 3)
        assert isinstance(unary["source_tokens"], int)
        assert isinstance(unary["target_tokens"], int)
        assert str(unary["peer"]).startswith("ipv4:127.0.0.1:")
        assert 0 < float(str(unary["seconds"])) < 30
        assert stream["line_count"] == 1
        assert predict["prefix_count"] == 1
        assert refused["code"] == "NOT_FOUND"
        assert "models/other" in str(refused["problem"])
        assert not any(word in server.logs.getvalue() for word in ("hundred", "hundert"))


def test_texts_on_request(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, log_texts=True)) as server:
        server.translate("four hundred")
        server.stream("five hundred")
        server.predict(text="six hundred")
        unary, stream, predict = call_lines(server, 3)
        assert unary["texts"] == ["four hundred"]
        assert unary["translations"] == ["vierhundert"]
        assert stream["texts"] == ["five hundred"]
        assert predict["texts"] == ["six hundred"]


def test_no_lines_on_request(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, log_calls=False)) as server:
        server.translate("four hundred")
        assert server.log_lines("call") == []


def test_health_checks_are_noted_only_for_debugging(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, log_level="debug")) as server:
        server.status()
        (line,) = call_lines(server, 1)
        assert line["level"] == "debug"


def test_facts_outside_a_call_go_nowhere() -> None:
    note(content_count=1)
