"""What the figures were taken on: processor, its instructions, cores, versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "dragoman",
    "onnxruntime",
    "numpy",
    "grpcio",
    "uvloop",
    "torch",
    "ctranslate2",
    "transformers",
    "sentencepiece",
)
_INSTRUCTIONS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8")
_ARM_INSTRUCTIONS = ("asimd", "asimddp", "i8mm", "sve", "bf16")


def describe() -> dict[str, Any]:
    """Describe this machine in plain values."""
    info = _processor()
    present = set(info.get("flags", info.get("Features", "")).split())
    return {
        "processor": info.get("model name", platform.processor() or platform.machine()),
        "family": f"{info.get('cpu family', '?')}/{info.get('model', '?')}",
        "instructions": [i for i in (*_INSTRUCTIONS, *_ARM_INSTRUCTIONS) if i in present],
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)),
        "load_before": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def line(machine: dict[str, Any]) -> str:
    """Name the machine in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['processor']} ({', '.join(machine['instructions'])}), "
        f"{machine['usable_cores']} of {machine['cores']} cores, load {machine['load_before']} "
        f"before, Python {machine['python']}, {versions}"
    )


def pin(cores: int) -> list[int]:
    """Bind this process, and those that it will start, to the first so many usable cores."""
    chosen = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, chosen)
    return chosen


def _processor() -> dict[str, str]:
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    except OSError:
        return {}
    pairs = (row.partition(":") for row in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
