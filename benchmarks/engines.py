"""Our engine beside others: the same weights, sentences and core, in interleaved rounds.

    python -m benchmarks.engines [--rounds N] [--quick] [--json FILE]

Each engine runs in a process of its own, with one thread for each graph, and all of them are bound
to the same one core, so that no second thread of anybody's is work for nothing. A round lets one
engine after the other do the same jobs; what is compared are seconds (or tokens a second) for each
output token, and a figure is the median of the rounds' own ratios. It is taken by wall clock and by
the engines' processor time; the bar judges the less favourable of the two. Both search with a beam
until four outputs have ended; ours gives those up that are far behind (`pruning_margin`), which
CTranslate2 has no option for. So that is measured with its default and without it on (a), where one
can see what it does to the translations, and without it only on (b).

Against CTranslate2 int8 on (a), the default bundle, and (b), the paper's `base` shape with random
weights and 32 tokens in and out; against `transformers` and `optimum` (ONNX), float32, on (b).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

from benchmarks.jobs import LENGTH, Job, dev_sources, random_sources
from benchmarks.machine import pin
from benchmarks.models import DEFAULT_BUNDLE, ModelName
from benchmarks.options import Options, command
from benchmarks.peers.process import PeerError, Run, Worker
from benchmarks.rows import Row
from dragoman.engine.bundle import TOKENIZER

OURS = "dragoman"
LEAST_AGREEMENT = 0.5
"""Share of translations that a peer with the same weights gives as we do, whatever it rounds."""

JUDGED_SENTENCES = 24
CTRANSLATE2 = "ctranslate2"
NAMES = {
    CTRANSLATE2: "CTranslate2 int8",
    "transformers": "transformers fp32",
    "optimum": "optimum (ONNX) fp32",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One line of the table: jobs that are run one after the other.

    Attributes:
        better: "lower" compares times, "higher" tokens a second.
    """

    name: str
    jobs: list[Job]
    bar: float | None = None
    aim: float | None = None
    better: Literal["lower", "higher"] = "lower"


def measure(options: Options) -> list[Row]:
    """Give all rows."""
    pin(1)
    rounds, few = options.pick_rounds(7), options.pick_rounds(3)
    real, forced = dev_comparisons(options.quick), random_comparisons(options.quick)
    rows = compare("b", CTRANSLATE2, forced, rounds) + compare("a", CTRANSLATE2, real, rounds)
    for peer in ("transformers", "optimum"):
        plain = [Comparison(name=each.name, jobs=each.jobs[:2]) for each in forced]
        rows += compare("b", peer, plain, few)
    return rows


def random_comparisons(quick: bool) -> list[Comparison]:
    """Give the lines on model (b)."""
    sources = random_sources(24)
    count = 1 if quick else 6
    return [
        Comparison(
            name="one sentence, greedy",
            jobs=[Job([source], forced_tokens=LENGTH) for source in sources[:count]],
            bar=0.6,
            aim=0.4,
        ),
        Comparison(
            # What pruning leaves of random weights says nothing.
            name="one sentence, beam 4, unpruned",
            jobs=[
                Job([source], 4, forced_tokens=LENGTH, prunes=False)
                for source in sources[: min(count, 4)]
            ],
            bar=0.8,
            aim=0.6,
        ),
        Comparison(
            name="eight rows, greedy",
            jobs=[Job(sources[at : at + 8], forced_tokens=LENGTH) for at in (0, 8)],
            bar=0.85,
            aim=0.65,
        ),
    ]


def dev_comparisons(quick: bool) -> list[Comparison]:
    """Give the lines on model (a), sentences of the dev set."""
    sources = dev_sources(DEFAULT_BUNDLE / TOKENIZER, 32 if quick else 256)
    singles = sources[: 4 if quick else 48]
    return [
        Comparison(name="one sentence, greedy", jobs=[Job([source]) for source in singles]),
        Comparison(name="one sentence, beam 4", jobs=[Job([source], 4) for source in singles[:24]]),
        Comparison(
            name="dev set, greedy, batch 32: tokens/s",
            jobs=[Job(sources)],
            bar=1.0,
            aim=1.3,
            better="higher",
        ),
        Comparison(
            name="dev set, beam 4, batch 32: tokens/s",
            jobs=[Job(sources, 4)],
            bar=1.0,
            aim=1.3,
            better="higher",
        ),
        Comparison(
            name="dev set, beam 4, unpruned, batch 32: tokens/s",
            jobs=[Job(sources, 4, prunes=False)],
            better="higher",
        ),
    ]


def compare(
    model: ModelName, peer: str, comparisons: Sequence[Comparison], rounds: int
) -> list[Row]:
    """Measure lines against one peer; a peer that can't be had gives lines without figures."""
    with ExitStack() as stack:
        try:
            workers = [stack.enter_context(Worker(name, model)) for name in (OURS, peer)]
            return [_row(model, peer, each, workers, rounds) for each in comparisons]
        except PeerError as error:
            note = f"{NAMES.get(peer, peer)}: {error}"
            return [_empty_row(model, peer, each, note) for each in comparisons]


def _empty_row(model: ModelName, peer: str, comparison: Comparison, note: str) -> Row:
    return Row(
        measure=comparison.name,
        model=model,
        against=NAMES[peer],
        figure=None,
        bar=comparison.bar,
        aim=comparison.aim,
        better=comparison.better,
        note=note,
    )


def _row(
    model: ModelName, peer: str, comparison: Comparison, workers: list[Worker], rounds: int
) -> Row:
    runs: list[list[Run]] = [[], []]
    # The first round warms up.
    for _ in range(rounds + 1):
        for worker, kept in zip(workers, runs, strict=True):
            kept.append(joined([worker.run(job) for job in comparison.jobs]))
    ours, theirs = runs[0][1:], runs[1][1:]
    wall = paired(ours, theirs, lambda run: run.wall / run.tokens, comparison.better)
    cpu = paired(ours, theirs, lambda run: run.cpu / run.tokens, comparison.better)
    worse = max if comparison.better == "lower" else min
    same = agreement(ours[0], theirs[0])
    if model == "a" and same < LEAST_AGREEMENT and len(ours[0].outputs) >= JUDGED_SENTENCES:
        raise PeerError(f"only {same:.0%} of its translations are ours: not the same model")
    return Row(
        measure=comparison.name,
        model=model,
        against=NAMES[peer],
        figure=worse(wall, cpu),
        bar=comparison.bar,
        aim=comparison.aim,
        better=comparison.better,
        wall=wall,
        cpu=cpu,
        note=f"{same:.0%} of the translations are the same" if model == "a" else "",
        details={
            "rounds": rounds,
            "tokens_per_second": statistics.median(run.tokens / run.wall for run in ours),
            "peer_tokens_per_second": statistics.median(run.tokens / run.wall for run in theirs),
            "same_outputs": same,
            "sentences": len(ours[0].outputs),
        },
    )


def joined(runs: Sequence[Run]) -> Run:
    """Add the runs of a round up."""
    return Run(
        sum(run.cpu for run in runs),
        sum(run.wall for run in runs),
        [output for run in runs for output in run.outputs],
    )


def paired(
    ours: Sequence[Run],
    theirs: Sequence[Run],
    cost: Callable[[Run], float],
    better: Literal["lower", "higher"],
) -> float:
    """Give the median over the rounds of our cost by theirs, or of its inverse."""
    ratio = statistics.median(cost(a) / cost(b) for a, b in zip(ours, theirs, strict=True))
    return ratio if better == "lower" else 1 / ratio


def agreement(ours: Run, theirs: Run) -> float:
    """Give the share of sentences for which both gave the same tokens."""
    pairs = list(zip(ours.outputs, theirs.outputs, strict=True))
    return sum(a == b for a, b in pairs) / len(pairs)


if __name__ == "__main__":
    command(measure, __doc__)
