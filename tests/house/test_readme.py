"""Every command of the README is run: as it stands, or its nearest equivalent that is safe here.

A command without a handler fails its test, so that none can be added and left untried.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import pytest

from tests.corpus.packages import have_dpkg_deb, install_stand_in, messages, write_deb
from tests.house.processes import SCRIPTS, Serving, environment, serving

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "127.0.0.1:50051"
METRICS = "http://127.0.0.1:9090"

Handler = Callable[[str, Serving], None]


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [match[3] for match in FENCE.finditer(README) if match[1] == language]


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line]
OWN_MODEL = [line for line in COMMANDS if "my-" in line]


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """The default model, as ``make serve`` and ``docker run`` serve it."""
    with serving() as where:
        yield where


def run(command: str, cwd: Path = ROOT, **settings: str) -> str:
    """Run a shell command with `dragoman` on the path, at the top of the checkout or in `cwd`."""
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        check=False,
        cwd=cwd,
        env=environment(PATH=path, **settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def behind(command: str) -> str:
    """What a make word runs, with this interpreter's scripts for those of .venv."""
    lines = run(f"make --dry-run {command.removeprefix('make ')}").splitlines()
    told = [line for line in lines if line.startswith(".venv/bin/") and " -m pip " not in line]
    (line,) = told
    return line.replace(".venv/bin/", f"{SCRIPTS}/")


def demo(command: str, server: Serving) -> None:
    output = run(behind(command))
    for sign in ("Serving on", "translate", "stream", "next token", "stopped"):
        assert sign in output


def suite(command: str, server: Serving) -> None:
    output = run(f"{behind(command)} --collect-only --quiet tests/house")
    assert "test_readme.py" in output


def serve(command: str, server: Serving) -> None:
    assert shlex.split(behind(command)) == [str(SCRIPTS / "dragoman"), "serve"]


def bench(command: str, server: Serving) -> None:
    assert "usage" in run(f"{behind(command)} --help")


def install(command: str, server: Serving) -> None:
    offline = "--dry-run --no-deps --no-index --no-build-isolation"
    assert "Would install dragoman" in run(
        f"{sys.executable} -m pip install {offline} {command.removeprefix('pip install ')}"
    )


def shell(command: str, server: Serving) -> None:
    with TemporaryDirectory() as folder:
        assert run(command, Path(folder), DRAGOMAN_ADDRESS=server.address).strip()
        drawn = re.search(r"--attention (\S+)", command)
        assert drawn is None or (Path(folder) / drawn[1]).is_file()


def metrics(command: str, server: Serving) -> None:
    url, _, pattern = command.removeprefix("curl -s ").partition(" | grep ")
    with urlopen(url.replace(METRICS, server.metrics_url)) as response:
        lines = response.read().decode().splitlines()
    assert [line for line in lines if re.search(pattern, line)]


def evaluation(command: str, server: Serving) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / "benchmarks").symlink_to(ROOT / "benchmarks")
        shown = run(f"{command} --sentences 16", Path(folder), DRAGOMAN_ADDRESS=server.address)
        assert all((Path(folder) / name).is_file() for name in ("scores.json", "card.md"))
    assert "16 sentences" in shown


def corpus(command: str, server: Serving) -> None:
    with TemporaryDirectory() as folder:
        texts = {f"Open the {word} here": f"Hier {word} öffnen" for word in ("door", "box")}
        catalogue = {"usr/share/locale/de/LC_MESSAGES/a.mo": messages(texts)}
        catalogue["usr/share/locale/fr/LC_MESSAGES/a.mo"] = messages(texts)
        write_deb(Path(folder), "a", catalogue)
        if not have_dpkg_deb():
            install_stand_in(Path(folder))
        run(f"{command} --debs .", Path(folder))
        (train,) = Path(folder).glob("corpus/*/train.tsv")
        assert len(train.read_text().splitlines()) == 2


def drawing(command: str, server: Serving) -> None:
    figures = {"loss": 2.0, "bleu": 20.0, "chrf": 50.0}
    row = {"step": 500, "target_tokens": 1_500_000, "seconds": 900.0, "dev": figures}
    with TemporaryDirectory() as folder:
        log = Path(folder) / command.split()[2] / "log.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text(json.dumps(row) + "\n")
        run(command, Path(folder))
        assert (Path(folder) / command.rsplit(maxsplit=1)[-1]).is_file()


def docker_build(command: str, server: Serving) -> None:
    assert (ROOT / command.rsplit(maxsplit=1)[-1] / "Dockerfile").is_file()


def docker_run(command: str, server: Serving) -> None:
    words = shlex.split(command)
    published = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
    exposed = re.search(r"^EXPOSE (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert exposed
    assert published == [f"{port}:{port}" for port in exposed[1].split()]
    assert f"docker build -t {words[-1]} ." in COMMANDS


def manifest(command: str, server: Serving) -> None:
    (name,) = re.findall(r"deploy/\S+", command)
    assert (ROOT / name).is_file()


SHORT = (
    "model.preset=tiny",
    "model.vocabulary_size=400",
    "tokenizer.vocabulary_size=400",
    "training.steps=4",
    "training.evaluate_every=4",
    "training.batch_tokens=256",
    "training.dev_sentences=2",
    "training.checkpoint_every=2",
    "training.device=cpu",
)
"""Settings that make the README's recipe a matter of seconds."""

HANDLERS: dict[str, Handler] = {
    r"make demo": demo,
    r"make test": suite,
    r"make serve": serve,
    r"make bench": bench,
    r"pip install .*": install,
    r"(echo .* \| )?dragoman (translate|next|score|models|health|serve --help)\b.*": shell,
    r"dragoman evaluate .*": evaluation,
    r"dragoman corpus build .*": corpus,
    r"dragoman plot-training .*": drawing,
    r"curl -s .*": metrics,
    r"docker build .*": docker_build,
    r"docker run .*": docker_run,
    r"(docker compose|kubectl) .*": manifest,
}
"""Pattern of a whole command, and what tries it."""


@pytest.mark.parametrize("command", [line for line in COMMANDS if line not in OWN_MODEL])
def test_command(command: str, server: Serving) -> None:
    (handler,) = (do for pattern, do in HANDLERS.items() if re.fullmatch(pattern, command))
    handler(command, server)


@pytest.mark.parametrize("program", blocks("python"))
def test_program(program: str, server: Serving) -> None:
    assert ADDRESS in program
    text = program.replace(ADDRESS, server.address)
    assert run(f"{sys.executable} -c {shlex.quote(text)}").strip()


def test_the_series_are_served(server: Serving) -> None:
    rows = [row for row in README.splitlines() if row.startswith(("| `grpc_", "| `dragoman_"))]
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert names
    with urlopen(f"{server.metrics_url}/metrics") as response:
        served = set(re.findall(r"^# HELP (\w+)", response.read().decode(), re.MULTILINE))
    assert [name for name in names if name not in served] == []


def test_own_model(tiny_run: Path, tmp_path: Path) -> None:
    """The README's recipe trains a few steps; the export takes the tiny model that is done."""
    train, average, export, serve_it, train_larger, export_exact, exact, judged = OWN_MODEL
    ((name, recipe),) = [(m[2], m[3]) for m in FENCE.finditer(README) if m[1] == "toml"]
    (tmp_path / name).write_text(recipe)
    for data in ("train.tsv", "dev.tsv"):
        (tmp_path / data).write_text((tiny_run / data).read_text())
    settings = " ".join(f"--set {value}" for value in SHORT)
    run(f"{behind(train)} {settings}", tmp_path)
    run(average, tmp_path)
    mean = tmp_path / export.split()[2]
    assert mean.is_dir()
    longer = "--set training.steps=6 --set training.shard_bytes=65536"
    run(f"{train_larger} {settings} {longer}", tmp_path)
    assert list(tmp_path.glob("runs/*/step-00000006/model-00001-of-*.safetensors"))

    shutil.rmtree(mean)
    shutil.copytree(tiny_run / "checkpoint", mean)
    run(export, tmp_path)
    run(export_exact, tmp_path)
    run(f"{exact} --sentences 40", tmp_path)
    assert ": kept." in run(f"{judged} --sentences 40", tmp_path)
    flags = serve_it.removeprefix("dragoman serve ").split()
    with serving(*flags, cwd=tmp_path) as where:
        text = run("dragoman translate 'four hundred twenty-one'", DRAGOMAN_ADDRESS=where.address)
    assert text.strip() == "vierhunderteinundzwanzig"


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []
