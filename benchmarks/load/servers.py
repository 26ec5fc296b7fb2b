"""The servers under load, each in a process of its own: ours, and the service round the others."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchmarks.models import DEFAULT_BUNDLE, ROOT
from benchmarks.peers.process import PeerError, environment
from benchmarks.service.engines import Setting
from dragoman.evaluation.serving import serving


@dataclass(frozen=True, slots=True)
class OurSetting:
    """How `dragoman serve` is run; whatever isn't named has its default.

    What is kept of earlier texts is switched off: in a trial few come twice, but trials repeat.
    """

    max_rows: int

    def __str__(self) -> str:
        """Name it in the table's notes."""
        return f"--max-rows {self.max_rows}"


AnySetting = OurSetting | Setting


def candidates(cores: int, quick: bool) -> dict[str, list[AnySetting]]:
    """Give the settings that are tried, by system; the fastest of each is taken."""
    shapes = [(1, cores), (cores, 1)] if cores > 1 else [(1, 1)]
    ours: list[AnySetting] = [OurSetting(rows) for rows in (32, 64, 128)]
    ctranslate2: list[AnySetting] = [
        Setting("ctranslate2", workers, threads, tokens, "int8")
        for workers, threads in shapes
        for tokens in (512, 2048)
    ]
    transformers: list[AnySetting] = [
        Setting("transformers", *shapes[0], 1024, "float32"),
        Setting("transformers", *shapes[0], 1024, "bfloat16"),
        Setting("transformers", *shapes[-1], 1024, "float32"),
    ]
    systems = {"dragoman": ours, "ctranslate2": ctranslate2, "transformers": transformers}
    return {name: few[:1] if quick else few for name, few in systems.items()}


def running(setting: AnySetting) -> AbstractContextManager[str]:
    """Run a server until the block ends; its address comes out."""
    if isinstance(setting, OurSetting):
        kept = ("--source-cache-bytes", "0", "--prefix-cache-bytes", "0")
        return serving(DEFAULT_BUNDLE, ("--max-rows", str(setting.max_rows), *kept))
    return _service(setting)


@contextmanager
def _service(setting: Setting) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.service", setting.engine]
    flags = {
        "--workers": setting.workers,
        "--threads": setting.threads,
        "--batch-tokens": setting.batch_tokens,
        "--precision": setting.precision,
    }
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [*command, *(str(word) for flag in flags.items() for word in flag)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env=environment(setting.engine, setting.threads),
        ) as process,
    ):
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            if not port:
                process.wait()
                errors.seek(0)
                raise PeerError((errors.read().splitlines() or ["it ended without a word"])[-1])
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()
