import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from dragoman.server import Config, ConfigurationError
from dragoman.server.config import default_bundle


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Config.model_fields:
        monkeypatch.delenv(f"DRAGOMAN_{name.upper()}", raising=False)


def test_the_defaults_that_others_rely_on() -> None:
    config = Config()
    assert (config.host, config.port, config.metrics_port) == ("127.0.0.1", 50051, 9090)
    assert config.bundle_path == default_bundle()
    assert config.bundle_path.parts[-3:] == ("server", "models", "en-de")
    assert config.reflection
    assert not config.log_texts


def test_environment_beats_file_and_flag_beats_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.toml"
    file.write_text("port = 1\nmax_rows = 2\nhost = '0.0.0.0'\n")
    monkeypatch.setenv("DRAGOMAN_CONFIG", str(file))
    monkeypatch.setenv("DRAGOMAN_PORT", "3")
    monkeypatch.setenv("DRAGOMAN_MAX_ROWS", "4")
    config = Config.load(max_rows=5, host=None)
    assert (config.port, config.max_rows, config.host) == (3, 5, "0.0.0.0")


def test_config_flag_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text("reflection = false\nlog_format = 'console'\n")
    config = Config.load(config=file)
    assert not config.reflection
    assert config.log_format == "console"


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_PORT", "")
    monkeypatch.setenv("DRAGOMAN_BUNDLE", "")
    assert Config().port == 50051
    assert Config().bundle is None


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"port": 65536}, r"port: .*65535, got 65536"),
        ({"port": "x"}, r"port: .*integer.*'x'"),
        ({"max_rows": 0}, r"max_rows: .*1, got 0"),
        ({"source_cache_bytes": -1}, r"source_cache_bytes: .*0, got -1"),
        ({"prefix_cache_bytes": "1 MB"}, r"prefix_cache_bytes: .*integer.*'1 MB'"),
        ({"max_contents": 2000}, r"max_contents: .*1024, got 2000"),
        ({"log_level": "loud"}, r"log_level: .*'debug'.*got 'loud'"),
        ({"tls_cert": "a.pem"}, r"tls_cert and tls_key"),
        ({"tls_client_ca": "a.pem"}, r"tls_client_ca needs tls_cert"),
        ({"max_lines": 100, "max_queued": 10}, r"max_lines \(100\).*max_queued \(10\)"),
        ({"no_such": 1}, r"no_such: "),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(flags: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        Config.load(**flags)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("port = ", "cannot read"), ("no_such = 1", "no_such"), ("port = 'x'", "port")],
)
def test_a_wrong_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "server.toml"
    file.write_text(content)
    with pytest.raises(ConfigurationError, match=message):
        Config.load(config=file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path / "none.toml"))):
        Config.load(config=tmp_path / "none.toml")


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Config().port = 1


def test_every_setting_is_described() -> None:
    for name, field in Config.model_fields.items():
        assert field.description, name
        assert field.description.endswith((".", "!)")), name
