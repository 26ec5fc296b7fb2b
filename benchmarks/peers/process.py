"""The other end of `worker`: an engine in a process of its own, called as if it were here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.jobs import Job
from benchmarks.models import ROOT, ModelName

OVERLAY = Path(sys.prefix) / "optimum"
"""Where `make bench` puts the older `transformers` that `optimum` needs, and `optimum` itself."""


class PeerError(RuntimeError):
    """A peer could not be loaded or broke; the message is the last it said."""


@dataclass(frozen=True, slots=True)
class Run:
    """Processor seconds of the engine's process, seconds by the clock, and the outputs."""

    cpu: float
    wall: float
    outputs: list[list[int]]

    @property
    def tokens(self) -> int:
        """Output tokens, end-of-sentence not counted."""
        return sum(map(len, self.outputs))


class Worker:
    """A loaded engine; a context manager."""

    def __init__(self, peer: str, model: ModelName, threads: int = 1) -> None:
        """Start the process and wait until the model is loaded.

        Raises:
            PeerError: It could not be loaded.
        """
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        command = [sys.executable, "-m", "benchmarks.peers.worker", peer, model]
        self._process = subprocess.Popen(
            [*command, "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=ROOT,
            env=environment(peer, threads),
        )
        self._read()

    def run(self, job: Job) -> Run:
        """Let the engine do a job.

        Raises:
            PeerError: It broke.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job.to_dict()) + "\n")
        self._process.stdin.flush()
        return Run(**self._read())

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            said = [each for each in self._errors.read().splitlines() if each.strip()]
            raise PeerError(said[-1] if said else "it ended without a word")
        values: dict[str, Any] = json.loads(line)
        return values

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._errors.close()


def environment(peer: str, threads: int) -> dict[str, str]:
    """Give the environment of a peer's process."""
    settings = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "HF_HUB_OFFLINE": "1",
        "ORT_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if peer == "optimum":
        settings["PYTHONPATH"] = os.pathsep.join([str(OVERLAY), settings.get("PYTHONPATH", "")])
    return settings
