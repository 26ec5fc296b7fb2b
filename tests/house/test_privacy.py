"""Nothing leaves the machine unasked."""

from __future__ import annotations

import os
import subprocess
import sys

SWITCH = "ORT_DISABLE_TELEMETRY"


def test_the_engine_switches_off_the_reports_of_onnxruntime() -> None:
    """The library reads the switch while it is loaded, so it must be set before that."""
    environment = {key: value for key, value in os.environ.items() if key != SWITCH}
    # Where it cannot keep an identifier of the machine, the library says so: a sign of life.
    environment |= {"HOME": "/proc/nonexistent", "XDG_CACHE_HOME": "/proc/nonexistent"}
    program = f"import os, dragoman.engine; print(os.environ[{SWITCH!r}])"
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (result.stdout, result.stderr) == ("1\n", "")
