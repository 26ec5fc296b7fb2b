"""``dragoman evaluate`` from end to end: a trained model behind a real server."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.client import Client, DragomanError
from dragoman.client.cli import main
from dragoman.evaluation.errors import EvaluationError
from dragoman.evaluation.serving import serving
from tests import number_words
from tests.client.authority import Authority

NUMBERS = number_words.split()[1][:60]
TOO_LONG = "one " * 400

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def server(tiny_bundle: Path) -> Iterator[str]:
    with serving(tiny_bundle) as address:
        yield address


@pytest.fixture(scope="module")
def numbers_tsv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty numbers of two domains, a line that is broken and one too long for the model."""
    path = tmp_path_factory.mktemp("data") / "numbers.tsv"
    lines = [
        f"{number_words.english(number)}\t{number_words.german(number)}\t"
        f"{'even' if number % 2 == 0 else 'odd'}|made|words\n"
        for number in NUMBERS
    ]
    path.write_text("".join([*lines, "a broken line\n", f"{TOO_LONG}\tlang\n"]))
    return path


def figures(path: Path) -> Any:
    return json.loads(path.read_text())["results"][0]


@pytest.fixture(scope="module")
def outcome(server: str, numbers_tsv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the command wrote."""
    folder = tmp_path_factory.mktemp("outcome")
    flags = ["--json", str(folder / "scores.json"), "--card", str(folder / "card.md")]
    assert main(["evaluate", str(numbers_tsv), "--address", server, *flags]) == 0
    return folder


def test_the_outputs_are_the_models_in_their_order(outcome: Path, server: str) -> None:
    found = figures(outcome / "scores.json")
    with Client(server) as client:
        sources = [number_words.english(number) for number in NUMBERS]
        texts = client.translate(sources, beam_size=1)
    assert found["outputs"] == [*(text.text for text in texts), ""]
    right = [number_words.german(number) for number in NUMBERS]
    assert sum(map(str.__eq__, found["outputs"], right)) >= 0.95 * len(right)


def test_the_figures_are_in_the_json(outcome: Path, numbers_tsv: Path) -> None:
    values = json.loads((outcome / "scores.json").read_text())
    assert values["test"]["name"] == numbers_tsv.name
    assert values["test"]["sentences"] == 61
    assert values["test"]["rejected"] == {"columns": 1}
    (found,) = values["results"]
    assert found["decoding"] == {"name": "greedy", "options": {"beam_size": 1}}
    assert set(found["figures"]["domains"]) == {"even", "odd"}
    for domain in found["figures"]["domains"].values():
        assert domain["chrf"] > 95
        assert domain["copies"]["count"] == domain["loops"]["count"] == 0
    overall = found["figures"]["overall"]
    assert overall["sentences"] == 61
    assert overall["empties"] == {"count": 1, "total": 61, "rate": 1 / 61}
    assert found["refused"] == 1
    assert found["speed"]["sentences"] == 61
    assert found["speed"]["sentences_per_second"] > 0
    assert found["speed"]["source_tokens"] > found["speed"]["sentences"]


def test_the_card_holds_the_models_facts_and_no_path(
    outcome: Path, tiny_bundle: Path, numbers_tsv: Path
) -> None:
    text = (outcome / "card.md").read_text()
    manifest = json.loads((tiny_bundle / "bundle.json").read_text())
    assert f"| name | models/{manifest['name']} |" in text
    assert f"| licence | {manifest['license']} |" in text
    assert "## Quality, greedy" in text
    assert "Lines left out: columns 1." in text
    for folder in (outcome, tiny_bundle.parent, numbers_tsv.parent, Path.home(), Path.cwd()):
        assert f"{folder}/" not in text
    assert re.search(r"(?<![\w.:/])/\w", text) is None


def test_several_beam_sizes_are_measured_one_after_the_other(
    server: str, numbers_tsv: Path, tmp_path: Path
) -> None:
    path = tmp_path / "scores.json"
    flags = ["--beam-size", "1", "--beam-size", "4", "--sentences", "5", "--json", str(path)]
    assert main(["evaluate", str(numbers_tsv), "--address", server, *flags]) == 0
    results = json.loads(path.read_text())["results"]
    assert [result["decoding"] for result in results] == [
        {"name": "greedy", "options": {"beam_size": 1}},
        {"name": "beam 4", "options": {"beam_size": 4}},
    ]


def test_what_is_printed(server: str, numbers_tsv: Path, capsys: Capture) -> None:
    assert main(["evaluate", str(numbers_tsv), "--address", server, "--sentences", "10"]) == 0
    shown = capsys.readouterr()
    assert "numbers.tsv: 10 sentences." in shown.out
    assert re.search(r"^ all +10 +\d+\.\d +\d+\.\d +\d\.\d{3} ", shown.out, re.MULTILINE)
    assert re.search(r"BLEU by sacrebleu: nrefs:1\|case:mixed", shown.out)
    assert "sentences per second" in shown.out
    assert shown.err == ""


def test_one_request_at_a_time_gives_the_same(
    server: str, numbers_tsv: Path, outcome: Path
) -> None:
    path = outcome / "alone.json"
    flags = ["--requests", "1", "--sentences", "12", "--json", str(path)]
    assert main(["evaluate", str(numbers_tsv), "--address", server, *flags]) == 0
    assert figures(path)["outputs"] == figures(outcome / "scores.json")["outputs"][:12]


def test_decoding_options_are_passed_on(server: str, numbers_tsv: Path, outcome: Path) -> None:
    path = outcome / "short.json"
    flags = ["--max-output-tokens", "2", "--sentences", "5", "--json", str(path)]
    assert main(["evaluate", str(numbers_tsv), "--address", server, *flags]) == 0
    found = figures(path)
    assert found["decoding"]["options"] == {"beam_size": 1, "max_output_tokens": 2}
    assert found["cut"] > 0
    assert found["speed"]["target_tokens"] <= 10


def test_a_server_of_its_own_and_a_baseline(
    tiny_bundle_fp32: Path,
    numbers_tsv: Path,
    outcome: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """fp32 against int8; settings of the environment are for other servers."""
    monkeypatch.setenv("DRAGOMAN_PORT", "no port")
    path, before = outcome / "fp32.json", outcome / "scores.json"
    flags = ["--bundle", str(tiny_bundle_fp32), "--baseline", str(before), "--json", str(path)]
    assert main(["evaluate", str(numbers_tsv), *flags]) == 0
    assert "Compared with the baseline" in capsys.readouterr().out
    values = json.loads(path.read_text())
    (comparison,) = values["comparisons"]
    assert values["model"]["precision"] == "fp32"
    assert comparison["model"].endswith(", int8")
    assert set(comparison["domains"]) == {"even", "odd"}
    assert abs(comparison["overall"]["chrf"]) < 3
    assert str(tiny_bundle_fp32) not in path.read_text()


def test_the_exit_status_tells_whether_too_much_is_lost(
    server: str, numbers_tsv: Path, outcome: Path, tmp_path: Path, capsys: Capture
) -> None:
    """The same model with its outputs cut short loses nearly all."""
    before = ["--baseline", str(outcome / "scores.json"), "--address", server]
    kept = ["--max-loss", "0.3", "--max-domain-loss", "1"]
    assert main(["evaluate", str(numbers_tsv), *before, *kept]) == 0
    assert "0.3 over all and 1 in a domain: kept." in capsys.readouterr().out
    path = tmp_path / "short.json"
    short = ["--max-output-tokens", "2", "--json", str(path)]
    assert main(["evaluate", str(numbers_tsv), *before, *kept, *short]) == 1
    shown = capsys.readouterr()
    assert re.search(r"^dragoman evaluate: greedy, all: [\d.]+ points of chrF lost", shown.err)
    assert "greedy, odd: " in shown.err
    assert json.loads(path.read_text())["comparisons"]


def test_a_bar_needs_a_baseline(numbers_tsv: Path, capsys: Capture) -> None:
    assert main(["evaluate", str(numbers_tsv), "--max-loss", "0.3"]) == 2
    assert "need a --baseline" in " ".join(capsys.readouterr().err.split())


def test_over_tls(tiny_bundle: Path, numbers_tsv: Path, tmp_path: Path, capsys: Capture) -> None:
    """The flags are those of the other commands with a server."""
    authority = Authority("authority")
    identity = authority.issue("server.example")
    files = {"ca": authority.root, "cert": identity.certificate, "key": identity.key}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    pair = (f"--tls-cert={tmp_path / 'cert'}", f"--tls-key={tmp_path / 'key'}")
    trust = [f"--tls-ca={tmp_path / 'ca'}", "--tls-server-name=server.example"]
    with serving(tiny_bundle, pair) as address:
        flags = ["--address", address, "--sentences", "5"]
        assert main(["evaluate", str(numbers_tsv), *flags, *trust]) == 0
        assert "5 sentences" in capsys.readouterr().out
        told = error(capsys, str(numbers_tsv), *flags, "--timeout", "2")
        assert f"cannot reach {address}" in told


def test_a_server_of_its_own_has_no_tls(
    tiny_bundle: Path, numbers_tsv: Path, capsys: Capture
) -> None:
    flags = ["--bundle", str(tiny_bundle), "--tls"]
    assert main(["evaluate", str(numbers_tsv), *flags]) == 2
    assert "without TLS" in " ".join(capsys.readouterr().err.split())


def test_a_server_of_its_own_is_gone_afterwards(tiny_bundle: Path) -> None:
    with serving(tiny_bundle) as address:
        host, _, port = address.partition(":")
        with Client(address) as client:
            assert client.translate("seven").text == "sieben"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


HOLD = """
import sys, time
from pathlib import Path
from dragoman.evaluation.serving import serving
with serving(Path(sys.argv[1])) as address:
    print(address, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_of_its_own_ends_with_its_owner(tiny_bundle: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tiny_bundle)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        host, _, port = owner.stdout.readline().strip().partition(":")
        socket.create_connection((host, int(port))).close()
        owner.send_signal(number)
    assert owner.returncode
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def test_a_server_that_does_not_start(tmp_path: Path) -> None:
    with (
        pytest.raises(EvaluationError, match=r"^no server: cannot serve the bundle .*bundle\.json"),
        serving(tmp_path),
    ):
        raise AssertionError("it serves nothing")


def error(capsys: Capture, *arguments: str) -> str:
    assert main(["evaluate", *arguments]) == 1
    told = capsys.readouterr().err
    assert told.startswith("dragoman evaluate: ")
    assert told.count("\n") == 1
    return told


def test_a_missing_server_is_told_in_one_line(numbers_tsv: Path, capsys: Capture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    told = error(capsys, str(numbers_tsv), "--address", f"127.0.0.1:{port}", "--timeout", "5")
    assert f"cannot reach 127.0.0.1:{port}" in told


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--card", "nowhere/card.md"], "nowhere/card.md: there is no folder nowhere"),
        (["--json", "nowhere/scores.json"], "nowhere/scores.json: there is no folder nowhere"),
        (["--baseline", "missing.json"], "missing.json"),
        (["--bundle", "no-bundle"], "no server: cannot serve the bundle no-bundle"),
        (["--model", "models/other"], "models/other"),
        (["--max-output-tokens", "100000"], "100000"),
    ],
)
def test_one_line_for_an_error(
    server: str,
    numbers_tsv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    flags: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRAGOMAN_ADDRESS", server)
    assert message in error(capsys, str(numbers_tsv), *flags)


def test_a_missing_test_set(tmp_path: Path, capsys: Capture) -> None:
    assert "No such file" in error(capsys, str(tmp_path / "none.tsv"))


def test_the_baseline_must_have_the_same_sentences(
    server: str, numbers_tsv: Path, outcome: Path, capsys: Capture
) -> None:
    before = str(outcome / "scores.json")
    flags = ("--baseline", before, "--sentences", "5", "--address", server)
    assert "other sentences than those of numbers.tsv" in error(capsys, str(numbers_tsv), *flags)


def test_a_server_that_goes_away_ends_the_command(tiny_bundle: Path) -> None:
    with serving(tiny_bundle) as address:
        client = Client(address, timeout=5, max_attempts=1)
        assert client.translate("two").text == "zwei"
    with client, pytest.raises(DragomanError):
        client.translate("two")
