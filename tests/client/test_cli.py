"""The command line: results on standard output, one line of error, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from dragoman.client import cli
from dragoman.v1 import translation_pb2
from tests.client.authority import Authority
from tests.client.backend import (
    Models,
    Shouting,
    free_port,
    healthy,
    internal,
    invalid,
    queue_full,
    served,
)
from tests.client.conftest import Run
from tests.client.test_models import MESSAGE

DRAGOMAN = Path(sys.executable).parent / "dragoman"


@pytest.fixture
def where(shouting: Shouting) -> Any:
    with served(shouting, Models([MESSAGE]), healthy()) as address:
        yield address


@pytest.fixture
def run(where: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command against that server."""
    monkeypatch.setenv("DRAGOMAN_ADDRESS", where)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    return run


def test_translate_arguments(run: Run, shouting: Shouting) -> None:
    assert run("translate", "one.", "two lines\nin one", "") == (
        0,
        "ONE.\nTWO LINES\nIN ONE\n\n",
        "",
    )
    assert len(shouting.requests) == 1


def test_translate_options(run: Run, shouting: Shouting) -> None:
    code, _, _ = run("translate", "--model", "models/x", "--max-output-tokens", "7", "one")
    assert code == 0
    (request,) = shouting.requests
    assert request.model == "models/x"
    assert request.decoding_options.max_output_token_count == 7


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "one",
        "one\n",
        "one\ntwo",
        "\n\n one \t\n\n\ntwo\r\nthree\x0bfour\u2028five\n\n",
        "ß\nÄ\n",
    ],
)
@pytest.mark.parametrize("flags", [(), ("--stream",)])
def test_standard_input_keeps_its_lines(run: Run, text: str, flags: tuple[str, ...]) -> None:
    code, output, errors = run("translate", *flags, stdin=text.encode())
    assert (code, output, errors) == (0, text.upper(), "")


def test_a_long_file_is_sent_in_batches(run: Run, shouting: Shouting) -> None:
    lines = [f"line {index}" for index in range(200)]
    code, output, _ = run("translate", stdin="\n".join(lines).encode())
    assert (code, output) == (0, "\n".join(lines).upper())
    assert max(len(request.contents) for request in shouting.requests) == 64


def test_input_that_is_not_utf8(run: Run) -> None:
    code, output, errors = run("translate", stdin=b"one\ntw\xff\nthree\n")
    assert (code, output, errors) == (1, "ONE\n", "dragoman: line 2 is not UTF-8\n")


class Refusing(Shouting):
    """Refuses the text "no", and any beam."""

    def TranslateText(self, request: Any, context: Any) -> translation_pb2.TranslateTextResponse:
        if "no" in request.contents:
            self.refuse(f"contents[{list(request.contents).index('no')}]", context)
        if request.decoding_options.beam_size:
            self.refuse("decoding_options.beam_size", context)
        return super().TranslateText(request, context)

    def StreamTranslateText(self, request: Any, context: Any) -> Any:
        if request.content == "no":
            self.refuse("content", context)
        return super().StreamTranslateText(request, context)

    def refuse(self, field: str, context: Any) -> None:
        message = f"{field} is bad; it must be good"
        replace(invalid((field, message)), message=message).end(context)


@pytest.mark.parametrize(
    ("arguments", "stdin", "output", "told"),
    [
        ((), b"x\n" * 66 + b"no\nx\n", "X\n" * 64, "line 67 is bad; it must be good"),
        (("--stream",), b"x\nno\n", "X\n", "line 2 is bad; it must be good"),
        (("x", "no"), b"", "", "text 2 is bad; it must be good"),
        (("--beam-size", "2", "x"), b"", "", "decoding_options.beam_size is bad; it must be good"),
    ],
)
def test_a_refused_text_is_told_by_its_number(
    run: Run, arguments: tuple[str, ...], stdin: bytes, output: str, told: str
) -> None:
    with served(Refusing()) as address:
        result = run("translate", "--address", address, *arguments, stdin=stdin)
    assert result == (1, output, f"dragoman: {told}\n")


def test_an_argument_that_is_not_utf8(run: Run) -> None:
    code, _, errors = run("translate", "a\udcff")
    assert (code, errors) == (1, "dragoman: text 1: lone surrogate U+DCFF at index 1\n")


def test_stream(run: Run, shouting: Shouting) -> None:
    assert run("translate", "--stream", "one two", "three") == (0, "ONE TWO\nTHREE\n", "")
    assert [request.content for request in shouting.requests] == ["one two", "three"]


class Cutting(Shouting):
    """Says that it cut the text."""

    def translated(self, text: str) -> translation_pb2.Translation:
        return translation_pb2.Translation(
            text=text,
            finish_reason=translation_pb2.FINISH_REASON_LENGTH,
            usage=translation_pb2.Usage(target_token_count=3),
        )


def test_a_cut_translation_is_told(run: Run) -> None:
    with served(Cutting()) as address:
        assert run("translate", "--address", address, "one") == (
            0,
            "one\n",
            "dragoman: a translation was cut after 3 tokens\n",
        )


def test_next(run: Run, shouting: Shouting) -> None:
    code, output, errors = run("next", "one", "--prefix", "AB ", "--top-k", "2", "--query", "7")
    assert (code, errors) == (0, "")
    assert output == (
        "rank  probability  log-probability  id  piece\n"
        "   1       77.88%          -0.2500   0  ▁0\n"
        "   2       28.65%          -1.2500   1  ▁1\n"
        "   8        0.01%          -9.5000   7  ▁7\n"
        "entropy 1.250 nats\n"
    )
    assert [prefix.text for prefix in shouting.requests[0].target_prefixes] == ["AB "]


def test_next_with_several_prefixes(run: Run) -> None:
    code, output, _ = run("next", "one", "--prefix", "", "--prefix", "Ä ", "--top-k", "1")
    assert code == 0
    assert output.splitlines()[0] == "''"
    assert output.splitlines()[4] == "'Ä '"


def test_models(run: Run) -> None:
    assert run("models") == (
        0,
        "name         languages  precision  tokens  license\n"
        "models/full  en -> de   int8       8000    CC-BY-4.0\n",
        "",
    )


def test_one_model(run: Run) -> None:
    code, output, _ = run("models", "models/full")
    assert code == 0
    for line in (
        "name: models/full",
        "architecture:",
        "  head count: 8",
        "  sentence pair count: not known",
        "training:",
        "  step count: 0",
        "certificate:",
        "  bound: 0.0001",
    ):
        assert line in output.splitlines()


def test_an_unknown_model(run: Run) -> None:
    assert run("models", "models/none") == (1, "", "dragoman: no models/none\n")


@pytest.mark.parametrize("command", ["models", "health"])
def test_what_concerns_no_model_takes_none(run: Run, command: str) -> None:
    code, _, errors = run(command, "--model", "models/x")
    assert code == 2
    assert errors.startswith("dragoman: No such option: --model")


def test_health(run: Run, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("health") == (0, "serving\n", "")
    assert run("health", "--service", "resting") == (1, "not serving\n", "")
    code, output, errors = run("health", "--service", "nothing")
    assert (code, output, errors.count("\n")) == (1, "", 1)
    monkeypatch.setenv("DRAGOMAN_ADDRESS", f"127.0.0.1:{free_port()}")
    code, output, errors = run("health")
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert "cannot reach 127.0.0.1" in errors
    assert run("health", "--address", where) == (0, "serving\n", "")


def test_failures_take_one_line(run: Run, shouting: Shouting) -> None:
    shouting.failures += [internal("c0ffee"), queue_full(None)]
    assert run("translate", "one") == (1, "", "dragoman: internal error c0ffee\n")
    assert run("translate", "one") == (1, "", "dragoman: the queue is full\n")


def test_a_deadline(run: Run, where: str, shouting: Shouting) -> None:
    shouting.answering.clear()
    code, _, errors = run("translate", "--timeout", "0.2", "one")
    assert (code, errors) == (1, f"dragoman: no answer from {where} within 0.2 s\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nope",), "No such command 'nope'."),
        (("translate", "--beam", "4"), "No such option: --beam"),
        (("next",), "Missing argument"),
        (("next", "x", "--top-k", "many"), "Invalid value for '--top-k'"),
    ],
)
def test_wrong_uses(run: Run, arguments: tuple[str, ...], message: str) -> None:
    code, output, errors = run(*arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"dragoman: {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--address", "localhost"), "address: 'localhost' must be host:port"),
        (("--timeout", "0"), "timeout: 0.0 is not a time of more than 0 s"),
        (("--tls-ca", "/nonexistent"), "tls.root_certificates: "),
        (("--tls-key", "/nonexistent"), "tls.private_key: "),
    ],
)
def test_wrong_values(run: Run, arguments: tuple[str, ...], message: str) -> None:
    code, output, errors = run("health", *arguments)
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert errors.startswith(f"dragoman: {message}")


def test_an_unforeseen_error_takes_one_line_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by\nnought")

    monkeypatch.setattr(cli, "show_models", broken)
    assert run("models") == (
        1,
        "",
        "dragoman: ZeroDivisionError: by nought (DRAGOMAN_DEBUG=1 shows where it arose)\n",
    )
    monkeypatch.setenv("DRAGOMAN_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("models")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_all_commands(run: Run, arguments: tuple[str, ...]) -> None:
    code, output, errors = run(*arguments)
    assert (code, errors) == (0, "")
    for name in ("translate", "next", "models", "health", "serve", "train", "export"):
        assert f" {name} " in output
    assert "Needs the extra 'server'." in output


@pytest.mark.parametrize("command", ["translate", "next", "models", "health"])
def test_every_command_has_the_connection_options(run: Run, command: str) -> None:
    code, output, _ = run(command, "--help")
    assert code == 0
    for option in ("--address", "--timeout", "--tls", "--tls-ca", "--tls-cert", "--tls-key"):
        assert f" {option} " in output
    assert "DRAGOMAN_ADDRESS" in output


def test_version(run: Run) -> None:
    from importlib.metadata import version

    assert run("--version") == (0, f"dragoman {version('dragoman')}\n", "")


def test_mutual_tls(run: Run, tmp_path: Path) -> None:
    authority = Authority("authority")
    mine, theirs = authority.issue("client.example"), authority.issue("server.example")
    files = {"ca": authority.root, "cert": mine.certificate, "key": mine.key}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    flags = [f"--tls-{name}={tmp_path / name}" for name in files]
    credentials = grpc.ssl_server_credentials(
        [(theirs.key, theirs.certificate)], authority.root, require_client_auth=True
    )
    with served(Shouting(), credentials=credentials) as address:
        named = [*flags, "--tls-server-name=server.example", f"--address={address}"]
        assert run("translate", *named, "one") == (0, "ONE\n", "")
        misnamed = program("translate", *flags, f"--address={address}", "one")
        unknown = program("health", "--tls", f"--address={address}")
    for done in (misnamed, unknown):
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)
    assert b"not for '127.0.0.1' but for 'server.example'" in misnamed.stderr


def test_notes_of_grpc_are_shown_where_the_environment_asks(where: str) -> None:
    done = program("health", "--tls", "--address", where, GRPC_VERBOSITY="INFO")
    assert done.returncode == 1
    assert b"Handshake failed" in done.stderr


def program(*arguments: str, stdin: bytes = b"", **environment: str) -> Any:
    return subprocess.run(
        [DRAGOMAN, *arguments],
        check=False,
        capture_output=True,
        input=stdin,
        timeout=60,
        env=os.environ | environment,
    )


def test_the_program_writes_utf8_whatever_the_locale(where: str) -> None:
    done = program(
        "translate", stdin="ß €\n".encode(), DRAGOMAN_ADDRESS=where, LC_ALL="C", PYTHONUTF8="0"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "SS €\n".encode(), b"")


def test_a_reader_that_leaves_ends_the_program_quietly(where: str) -> None:
    command = f"yes hello | {DRAGOMAN} translate --address {where} | head -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", command], check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("HELLO\n", "")


def test_typed_lines_are_answered_one_by_one(where: str) -> None:
    with subprocess.Popen(
        [DRAGOMAN, "translate", "--address", where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (b"one\n", b"two\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == line.upper()
        process.stdin.close()
        assert process.wait(30) == 0


def test_an_interrupt_ends_the_program(where: str, shouting: Shouting) -> None:
    import signal

    from tests.client.backend import wait_until

    shouting.answering.clear()
    with subprocess.Popen(
        [DRAGOMAN, "translate", "--address", where, "one"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert wait_until(lambda: shouting.running == 1, 30)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.communicate() == (b"", b"")
