import socket
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from dragoman.server.cli import serve
from dragoman.server.config import Config


def invoke(*flags: str) -> Result:
    app = typer.Typer()
    app.command()(serve)
    return CliRunner().invoke(app, flags, env={"COLUMNS": "200", "TERM": "dumb"})


def one_line(result: Result) -> str:
    """The line about the error; log lines come before it."""
    assert "Traceback" not in result.output
    line = result.output.strip().splitlines()[-1]
    assert line.startswith("dragoman serve: ")
    return line


def test_help_shows_every_setting_and_its_default() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    for name, field in Config.model_fields.items():
        assert f"--{name.replace('_', '-')}" in text, name
        if isinstance(field.default, int | float | str) and not isinstance(field.default, bool):
            assert f"Default: {field.default}." in text, name


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--port", "70000"), "port: "),
        (("--tls-cert", "x.pem"), "tls_cert and tls_key"),
        (("--config", "/no/such.toml"), "/no/such.toml"),
    ],
)
def test_a_wrong_setting_ends_with_2(flags: tuple[str, ...], message: str) -> None:
    result = invoke(*flags)
    assert result.exit_code == 2
    assert message in one_line(result)


def test_a_bad_bundle_ends_with_1(tmp_path: Path) -> None:
    result = invoke("--bundle", str(tmp_path), "--port", "0", "--metrics-port", "0")
    assert result.exit_code == 1
    assert str(tmp_path) in one_line(result)
    assert "bundle.json" in one_line(result)


@pytest.mark.parametrize("flag", ["--port", "--metrics-port"])
def test_a_port_in_use_ends_with_1(flag: str, tmp_path: Path) -> None:
    other = {"--port": "--metrics-port", "--metrics-port": "--port"}[flag]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = invoke("--bundle", str(tmp_path), flag, port, other, "0")
    assert result.exit_code == 1
    assert f"127.0.0.1:{port}" in one_line(result)
    assert "in use" in one_line(result)


def test_a_strange_host_ends_with_1(tmp_path: Path) -> None:
    flags = ("--bundle", str(tmp_path), "--port", "0", "--no-metrics")
    result = invoke(*flags, "--host", "203.0.113.1")
    assert result.exit_code == 1
    assert "203.0.113.1" in one_line(result)


def test_bad_tls_files_end_with_1(tmp_path: Path) -> None:
    certificate = tmp_path / "cert.pem"
    certificate.write_text("no certificate")
    flags = ("--port", "0", "--no-metrics", "--tls-cert", str(certificate), "--tls-key")
    result = invoke(*flags, str(certificate))
    assert result.exit_code == 1
    assert str(certificate) in one_line(result)
    result = invoke(*flags, str(tmp_path / "none.pem"))
    assert result.exit_code == 1
    assert "none.pem" in one_line(result)
