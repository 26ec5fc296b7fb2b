"""The highest rate of requests that each server bears: open loop, arrivals by chance.

    python -m benchmarks.open_loop [--rounds N] [--quick] [--json FILE]

Sentences and paragraphs of the dev set, 5 to 120 tokens, come at random moments (a Poisson
process), whatever has been answered by then; latency counts from the moment at which a request was
due. A rate is borne where 99 of 100 answers take less than 2 seconds, none of them an error. Trials
search for the highest rate to 5 %, one of each server in turn, with the same texts and gaps for all
of them.

The servers: `dragoman serve`; and a gRPC server of our own round CTranslate2 (int8) and round
`transformers`, which batches what waits by length (`benchmarks/service`). The settings of each are
chosen beforehand by how fast it answers many requests at once. All of them, and the one client for
all, run on the same cores; the model is (a), with beam 4 (ours prunes, by default) and greedily.
Latency can't grow beyond what a trial lasts, so short trials let every server pass a little more
than it would bear for ever.
"""

from __future__ import annotations

import asyncio
import math
import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

import sentencepiece

from benchmarks.jobs import dev_texts
from benchmarks.load.arrivals import mixed_texts
from benchmarks.load.client import LoadClient, Trial
from benchmarks.load.search import RateSearch
from benchmarks.load.servers import AnySetting, candidates, running
from benchmarks.machine import pin
from benchmarks.models import DEFAULT_BUNDLE
from benchmarks.options import Options, command
from benchmarks.peers.process import PeerError
from benchmarks.rows import Row
from dragoman.engine.bundle import TOKENIZER

OURS = "dragoman"
PEERS = {
    "ctranslate2": ("batching server round CTranslate2", 1.3, 2.0),
    "transformers": ("batching server round transformers", 4.0, 8.0),
}
DECODINGS = {"beam 4": 4, "greedy": 1}
_TEXTS = 1000
_SECONDS, _MOST_SECONDS, _WANTED_REQUESTS = 10.0, 20.0, 100
_BURST, _SLOW_BURST = 256, 48


@dataclass(slots=True)
class Contender:
    """A server with the setting that was chosen for it, while its rate is searched for."""

    setting: AnySetting
    search: RateSearch
    trials: list[Trial] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Choice:
    """The fastest setting of a system for one decoding, and the requests a second it answered."""

    setting: AnySetting
    speed: float


def measure(options: Options) -> list[Row]:
    """Give a row for each decoding and peer."""
    cores = len(pin(2))
    texts = load_texts(60 if options.quick else _TEXTS)
    choices, faults = choose(candidates(cores, options.quick), texts, options)
    rows: list[Row] = []
    for name, beam_size in DECODINGS.items():
        chosen = {system: choice[name] for system, choice in choices.items()}
        contenders = asyncio.run(search_rates(chosen, texts, beam_size, options))
        rows += [_row(name, peer, contenders, faults) for peer in PEERS]
    return rows


def load_texts(number: int) -> list[str]:
    """Make the texts that are sent."""
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(DEFAULT_BUNDLE / TOKENIZER))
    return mixed_texts(dev_texts(), lambda text: len(tokenizer.encode(text)) + 1, number)


def choose(
    systems: dict[str, list[AnySetting]], texts: list[str], options: Options
) -> tuple[dict[str, dict[str, Choice]], dict[str, str]]:
    """Time a burst on every setting; give the best of each system for each decoding, and faults."""
    choices: dict[str, dict[str, Choice]] = {}
    faults: dict[str, str] = {}
    for system, settings in systems.items():
        number = 16 if options.quick else _SLOW_BURST if system == "transformers" else _BURST
        try:
            found = [(each, asyncio.run(burst_speeds(each, texts, number))) for each in settings]
        except PeerError as error:
            faults[system] = str(error)
            continue
        choices[system] = {
            name: max((Choice(each, speeds[name]) for each, speeds in found), key=_speed)
            for name in DECODINGS
        }
    return choices, faults


def _speed(choice: Choice) -> float:
    return choice.speed


async def burst_speeds(setting: AnySetting, texts: list[str], number: int) -> dict[str, float]:
    """Give the requests a second that a server answers of many at once, by decoding."""
    speeds: dict[str, float] = {}
    with running(setting) as address:
        for name, beam_size in DECODINGS.items():
            async with LoadClient(address, texts, beam_size) as client:
                await client.burst(8)
                speeds[name] = number / await client.burst(number)
    return speeds


async def search_rates(
    chosen: dict[str, Choice], texts: list[str], beam_size: int, options: Options
) -> dict[str, Contender]:
    """Search for the highest rate of each system, a trial of each in turn."""
    most_trials = 2 if options.quick else 7
    contenders = {
        system: Contender(choice.setting, RateSearch(choice.speed, most_trials=most_trials))
        for system, choice in chosen.items()
    }
    with ExitStack() as stack:
        clients = {
            system: LoadClient(stack.enter_context(running(each.setting)), texts, beam_size)
            for system, each in contenders.items()
        }
        for client in clients.values():
            await client.burst(16)
        while any(each.search.next_rate is not None for each in contenders.values()):
            for system, contender in contenders.items():
                await _try_next(contender, clients[system], options)
        for client in clients.values():
            await client.__aexit__(None, None, None)
    return contenders


async def _try_next(contender: Contender, client: LoadClient, options: Options) -> None:
    rate = contender.search.next_rate
    if rate is None:
        return
    seconds = 2.0 if options.quick else trial_seconds(rate)
    trial = await client.trial(rate, seconds, seed=1)
    contender.trials.append(trial)
    contender.search.note(rate, borne=trial.borne)


def trial_seconds(rate: float) -> float:
    """Give the length of a trial: longer where few requests come, so that the percentile is one."""
    return min(_MOST_SECONDS, max(_SECONDS, _WANTED_REQUESTS / rate))


def _row(decoding: str, peer: str, contenders: dict[str, Contender], faults: dict[str, str]) -> Row:
    name, bar, aim = PEERS[peer]
    best = {system: each.search.best for system, each in contenders.items()}
    ours, theirs = best.get(OURS), best.get(peer)
    return Row(
        measure=f"open loop, {decoding}: highest rate with p99 < 2 s",
        model="a",
        against=name,
        figure=ours / theirs if ours and theirs else None,
        bar=bar,
        aim=aim,
        better="higher",
        note=faults.get(peer, "") or _note(contenders, peer),
        details={
            "cores": len(os.sched_getaffinity(0)),
            **{system: _details(contenders[system]) for system in (OURS, peer) if system in best},
        },
    )


def _note(contenders: dict[str, Contender], peer: str) -> str:
    ours, theirs = contenders[OURS], contenders[peer]
    return (
        f"ours bears {ours.search.best or 0:.1f} requests a second ({ours.setting}), "
        f"theirs {theirs.search.best or 0:.1f} ({theirs.setting})"
    )


def _details(contender: Contender) -> dict[str, Any]:
    return {
        "setting": asdict(contender.setting),
        "highest_rate": contender.search.best,
        "trials": [plain(trial) for trial in contender.trials],
    }


def plain(trial: Trial) -> dict[str, float | None]:
    """Give a trial's values; JSON knows nothing infinite."""
    return {name: value if value < math.inf else None for name, value in asdict(trial).items()}


if __name__ == "__main__":
    command(measure, __doc__)
