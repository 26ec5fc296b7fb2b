"""One figure of `benchmarks.memory`, in a process that has nothing else in it.

    python -m benchmarks.resident empty
    python -m benchmarks.resident loaded BUNDLE
    python -m benchmarks.resident shapes BUNDLE COUNT

Prints the resident memory in bytes as a JSON list: one figure, or those after every twentieth of
the shapes. Nothing is imported that a server would not import.
"""

from __future__ import annotations

import json
import queue
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime as ort

from dragoman.engine import (
    DecodingOptions,
    Engine,
    EngineOptions,
    Event,
    Failed,
    TranslationRequest,
)

SAMPLES = 20
_SHORT, _LONG, _LONG_SHARE = (40, 8), (500, 200), 0.005

# A graph that gives back its input, as `onnx.helper` writes it.
_IDENTITY = bytes.fromhex(
    "08083a370a100a017812017922084964656e746974791201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a02080142040a001012"
)


def empty() -> list[int]:
    """Run a graph of one node."""
    session = ort.InferenceSession(_IDENTITY, providers=["CPUExecutionProvider"])
    session.run(None, {"x": np.zeros(1, np.float32)})
    return [resident_bytes()]


def loaded(bundle: Path) -> list[int]:
    """Load an engine and let it translate a text greedily and with a beam."""
    engine = _warm_engine(bundle)
    found = resident_bytes()
    engine.stop()
    return [found]


def shapes(bundle: Path, count: int) -> list[int]:
    """Let an engine with all its defaults translate batches of random shapes."""
    engine = _warm_engine(bundle)
    choice = random.Random(1)
    found: list[int] = []
    for index in range(1, count + 1):
        _answer(engine, [_request(engine, choice) for _ in range(choice.randint(1, 4))])
        if index % max(1, count // SAMPLES) == 0:
            found.append(resident_bytes())
    engine.stop()
    return found


def resident_bytes() -> int:
    """Give this process's resident memory."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [line] = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def _warm_engine(bundle: Path) -> Engine:
    options = EngineOptions(decoder_threads=1, encoder_threads=1)
    engine = Engine.load(bundle, options)
    engine.start()
    source = engine.tokenizer.encode_source("Open the file in a new window.")
    for beam_size in (1, 4):
        decoding = DecodingOptions(beam_size=beam_size, max_output_tokens=20)
        _answer(engine, [TranslationRequest(source, options=decoding)])
    return engine


def _request(engine: Engine, choice: random.Random) -> TranslationRequest:
    source, target = _LONG if choice.random() < _LONG_SHARE else _SHORT
    tokens = choice.randint(1, min(target, engine.limits.max_target_tokens))
    options = DecodingOptions(
        beam_size=choice.choice([1, 1, 2, 4]),
        min_output_tokens=tokens,
        max_output_tokens=tokens,
    )
    return TranslationRequest(tuple(_source(engine, choice, source)), options=options)


def _source(engine: Engine, choice: random.Random, longest: int) -> Iterator[int]:
    text = range(4, engine.limits.vocabulary_size)
    yield from choice.choices(text, k=choice.randint(1, longest))
    yield engine.bundle.tokens.eos


def _answer(engine: Engine, requests: list[TranslationRequest]) -> None:
    ended: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for request in requests:
        engine.submit(request, ended.put)
    for _ in requests:
        event = ended.get()
        if isinstance(event, Failed):
            raise event.error


def main(arguments: list[str]) -> None:
    """Take one figure."""
    match arguments:
        case ["empty"]:
            found = empty()
        case ["loaded", bundle]:
            found = loaded(Path(bundle))
        case ["shapes", bundle, count]:
            found = shapes(Path(bundle), int(count))
        case _:
            raise SystemExit(__doc__)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
