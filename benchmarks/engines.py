"""Our engine beside CTranslate2: the same weights, sentences, cores and rounds.

    python -m benchmarks.engines CHECKPOINT [--rounds 7] [--threads 1] [--json FILE]

Model (a) is the checkpoint, with real sentences of the dev set; model (b) has the paper's `base`
shape, random weights, and 32 tokens in and out. Rounds alternate between the engines; a cell is
the median of the rounds' own ratios, ours divided by theirs: below 1, we need less time.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import sentencepiece

from benchmarks.models import random_base, trained
from benchmarks.peers.ctranslate2_engine import CTranslate2, Job, cpu_and_wall
from benchmarks.peers.dragoman_engine import Dragoman

DEV = Path(__file__).parent / "data" / "dev.tsv"
LENGTH = 32


class Peer(Protocol):
    """An engine under test."""

    name: str

    def run(self, job: Job) -> int:
        """Decode; return the number of output tokens."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table: jobs that are run one after the other."""

    name: str
    model: str
    jobs: list[Job]


@dataclass(frozen=True, slots=True)
class Run:
    """Processor seconds, wall-clock seconds and output tokens."""

    cpu: float
    wall: float
    tokens: int


def main() -> None:
    """Run all measures and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    pairs = {
        "a": trained(arguments.checkpoint),
        "b": random_base(arguments.checkpoint / "tokenizer.model"),
    }
    peers: dict[str, tuple[Peer, Peer]] = {
        name: (
            Dragoman(pair.bundle, arguments.threads),
            CTranslate2(pair.ctranslate2, arguments.threads),
        )
        for name, pair in pairs.items()
    }
    rows = [
        measure_row(measure, peers[measure.model], arguments.rounds)
        for measure in measures(arguments.checkpoint / "tokenizer.model")
    ]
    print_table(rows)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")


def measures(tokenizer: Path) -> list[Measure]:
    """The lines of the table."""
    random_sources = _random_sources(24)
    single = [Job([source], forced_tokens=LENGTH) for source in random_sources[:6]]
    beams = [Job([source], beam_size=4, forced_tokens=LENGTH) for source in random_sources[:4]]
    eights = [Job(random_sources[start : start + 8], forced_tokens=LENGTH) for start in (0, 8)]
    dev = _dev_sources(tokenizer, 256)
    return [
        Measure("one sentence, greedy", "b", single),
        Measure("one sentence, beam 4", "b", beams),
        Measure("eight rows, greedy", "b", eights),
        Measure("one sentence, greedy", "a", [Job([source]) for source in dev[:48]]),
        Measure("one sentence, beam 4", "a", [Job([source], beam_size=4) for source in dev[:24]]),
        Measure("dev set, greedy, batch 32", "a", [Job(dev)]),
        Measure("dev set, beam 4, batch 32", "a", [Job(dev, beam_size=4)]),
    ]


def measure_row(measure: Measure, peers: tuple[Peer, Peer], rounds: int) -> dict[str, object]:
    """Run one measure in interleaved rounds."""
    runs: tuple[list[Run], list[Run]] = ([], [])
    for _ in range(rounds + 1):
        for peer, kept in zip(peers, runs, strict=True):
            kept.append(run_jobs(peer, measure.jobs))
    # The first round warms up.
    ours, theirs = runs[0][1:], runs[1][1:]

    def ratio(of: Callable[[Run], float]) -> float:
        return statistics.median(of(a) / of(b) for a, b in zip(ours, theirs, strict=True))

    return {
        "measure": measure.name,
        "model": measure.model,
        "wall_ratio": ratio(lambda run: run.wall / run.tokens),
        "cpu_ratio": ratio(lambda run: run.cpu / run.tokens),
        "tokens_per_second": statistics.median(run.tokens / run.wall for run in ours),
        "peer_tokens_per_second": statistics.median(run.tokens / run.wall for run in theirs),
    }


def run_jobs(peer: Peer, jobs: list[Job]) -> Run:
    """Run jobs one after the other."""
    cpu, wall = cpu_and_wall()
    tokens = sum(peer.run(job) for job in jobs)
    cpu_after, wall_after = cpu_and_wall()
    return Run(cpu_after - cpu, wall_after - wall, tokens)


def print_table(rows: list[dict[str, object]]) -> None:
    """Print the ratios as a Markdown table."""
    print("| measure | model | time against CTranslate2 int8 | processor time | tokens/s |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['measure']} | {row['model']} | {row['wall_ratio']:.2f} x "
            f"| {row['cpu_ratio']:.2f} x | {row['tokens_per_second']:,.0f} |"
        )


def _random_sources(count: int) -> list[tuple[int, ...]]:
    generator = random.Random(1)
    ids = range(4, 8_000)
    return [(*generator.choices(ids, k=LENGTH - 1), 3) for _ in range(count)]


def _dev_sources(tokenizer: Path, count: int) -> list[tuple[int, ...]]:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    texts = [line.split("\t")[0] for line in DEV.read_text(encoding="utf-8").splitlines()]
    sources = [(*processor.encode(text), 3) for text in texts]
    return [source for source in sources if len(source) <= 200][:count]


if __name__ == "__main__":
    main()
