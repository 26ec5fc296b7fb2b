"""The image and the examples of running it, as far as reading goes; deploy/prove-image.sh runs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

DRAIN_SECONDS = 31
"""What the server takes at most after SIGTERM: settle time and grace by default."""


@pytest.fixture(scope="module")
def instructions(root: Path) -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, rest), continuation lines joined."""
    text = (root / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, " ".join(rest.split())) for word, _, rest in (x.partition(" ") for x in lines)]


@pytest.fixture(scope="module")
def last_stage(instructions: list[tuple[str, str]]) -> dict[str, list[str]]:
    start = max(i for i, (word, _) in enumerate(instructions) if word == "FROM")
    stage: dict[str, list[str]] = {}
    for word, rest in instructions[start:]:
        stage.setdefault(word, []).append(rest)
    return stage


def test_stages_share_one_pinned_base(instructions: list[tuple[str, str]]) -> None:
    (base,) = (rest for word, rest in instructions if word == "ARG")
    assert re.fullmatch(r"BASE=docker\.io/library/python:3\.\d+\.\d+-slim-[a-z]+", base)
    stages = [rest for word, rest in instructions if word == "FROM"]
    assert len(stages) == 2
    assert all(stage.startswith("${BASE}") for stage in stages)


def test_the_last_stage_declares_how_it_runs(last_stage: dict[str, list[str]]) -> None:
    assert last_stage["USER"] == ["10001:10001"]
    assert last_stage["STOPSIGNAL"] == ["SIGTERM"]
    assert last_stage["EXPOSE"] == ["50051 9090"]
    (health,) = last_stage["HEALTHCHECK"]
    command = 'CMD dragoman health --address "127.0.0.1:${DRAGOMAN_PORT:-50051}"'
    assert health.endswith(command)
    assert [json.loads(x) for x in last_stage["ENTRYPOINT"] + last_stage["CMD"]] == [
        ["dragoman"],
        ["serve"],
    ]
    environment = " ".join(last_stage["ENV"]).split()
    assert {"DRAGOMAN_HOST=0.0.0.0", "ORT_DISABLE_TELEMETRY=1"} <= set(environment)


def test_the_last_stage_installs_nothing(last_stage: dict[str, list[str]]) -> None:
    assert last_stage["COPY"] == ["--from=build /opt/dragoman /opt/dragoman"]
    assert not [run for run in last_stage["RUN"] if re.search(r"\b(pip|apt|apt-get|curl)\b", run)]


def test_the_build_is_pinned_and_free_of_torch(instructions: list[tuple[str, str]]) -> None:
    runs = [rest for word, rest in instructions if word == "RUN"]
    installs = [run for run in runs if "pip install" in run]
    assert all("--constraint constraints.txt" in run or "--no-deps" in run for run in installs)
    assert not [run for run in runs if re.search(r"torch|'(export|dev)'", run)]
    assert not [run for run in runs if re.search(r"(^|&& )(python|pip) ", run)], "python3 only"


def test_the_builder_sees_only_what_it_needs(root: Path) -> None:
    lines = (root / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    kept = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert kept >= {"pyproject.toml", "constraints.txt", "protos", "server", "client", "export"}
    assert not kept & {".git", ".venv", "tests", "benchmarks"}


@pytest.mark.parametrize("name", ["prove-image.sh", "base-image.sh"])
def test_scripts_parse(root: Path, name: str) -> None:
    script = root / "deploy" / name
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_compose_watches_what_it_serves(root: Path, pyproject: dict[str, Any]) -> None:
    compose = yaml.safe_load((root / "deploy" / "compose.yaml").read_text())
    service = compose["services"]["dragoman"]
    assert service["image"] == f"dragoman:{pyproject['project']['version']}"
    assert service["read_only"] is True
    assert int(service["stop_grace_period"].removesuffix("s")) > DRAIN_SECONDS
    prometheus = yaml.safe_load((root / "deploy" / "prometheus.yml").read_text())
    (job,) = prometheus["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["dragoman:9090"]}]


def test_kubernetes_probes_speak_grpc(root: Path, pyproject: dict[str, Any]) -> None:
    documents = yaml.safe_load_all((root / "deploy" / "kubernetes.yaml").read_text())
    by_kind = {document["kind"]: document for document in documents}
    assert {port["port"] for port in by_kind["Service"]["spec"]["ports"]} == {50051, 9090}
    pod = by_kind["Deployment"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > DRAIN_SECONDS
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["enableServiceLinks"] is False
    (container,) = pod["containers"]
    assert container["image"] == f"dragoman:{pyproject['project']['version']}"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["grpc"] == {"port": 50051}
