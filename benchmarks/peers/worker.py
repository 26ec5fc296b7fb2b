"""The process of one engine: jobs come in on standard input, figures go out on standard output.

python -m benchmarks.peers.worker {dragoman,ctranslate2,transformers,optimum} {a,b} [--threads 1]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import TextIO

from benchmarks.jobs import Job
from benchmarks.peers.engine import PEERS, open_engine


def main() -> None:
    """Load the engine, say so, and do one job a line until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("model", choices=("a", "b"))
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    answers = _claim_output()
    engine = open_engine(arguments.peer, arguments.model, arguments.threads)
    _answer(answers, {"ready": True})
    for line in sys.stdin:
        job = Job.from_dict(json.loads(line))
        cpu, wall = time.process_time(), time.perf_counter()
        outputs = engine.run(job)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        _answer(answers, {"cpu": cpu, "wall": wall, "outputs": outputs})
    # Engines may have threads that never end.
    answers.flush()
    os._exit(0)


def _claim_output() -> TextIO:
    """Keep standard output for the answers; what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, values: dict[str, object]) -> None:
    answers.write(json.dumps(values) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
