"""How long running streams wait for their next token when a long text arrives.

    python -m benchmarks.gaps [--rounds N] [--quick] [--json FILE]

Through a `dragoman serve` process of its own: eight `StreamTranslateText` calls decode greedily,
kept going by a least length. Once all of them have begun, the gaps between their messages are
undisturbed for a while: the median of these is the yardstick. Then a text of about 400 tokens
arrives; the gaps that end from then until its answer has come (it is encoded, admitted, and decoded
for a few tokens) are pooled over the rounds, and their 99th percentile is divided by the median. So
a stall of a single step counts: it is a large part of the few gaps that are looked at. Times are
taken in the client, on the same cores, so they hold its own delays, too.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass, field
from itertools import pairwise

import grpc
import sentencepiece

from benchmarks.jobs import dev_texts
from benchmarks.load.latency import percentile
from benchmarks.machine import pin
from benchmarks.models import DEFAULT_BUNDLE
from benchmarks.options import Options, command
from benchmarks.rows import Row
from dragoman.engine.bundle import TOKENIZER
from dragoman.evaluation.serving import serving
from dragoman.v1 import translation_pb2

STREAMS = 8
LONG = 400
_STREAM_TOKENS = 500
_UNDISTURBED_SECONDS = 0.15
_FLAGS = ("--source-cache-bytes", "0", "--prefix-cache-bytes", "0")
_SERVICE = "/dragoman.v1.TranslationService"


@dataclass(slots=True)
class Stream:
    """When the messages of one stream came; `begun` once there was one."""

    times: list[float] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    def gaps(self, start: float, end: float) -> list[float]:
        """Give the gaps that end between two moments."""
        pairs = pairwise(self.times)
        return [after - before for before, after in pairs if start < after <= end]


@dataclass(frozen=True, slots=True)
class Gaps:
    """Seconds between messages, before the long text came and while it was taken in."""

    before: list[float]
    during: list[float]


def measure(options: Options) -> list[Row]:
    """Give the one row."""
    pin(2)
    rounds = options.pick_rounds(20)
    with serving(DEFAULT_BUNDLE, _FLAGS) as address:
        # The first round warms up.
        found = asyncio.run(measure_rounds(address, rounds + 1))[1:]
    before = [gap for each in found for gap in each.before]
    during = [gap for each in found for gap in each.during]
    median = statistics.median(before)
    return [
        Row(
            measure=f"p99 gap between tokens of {STREAMS} streams, a {LONG}-token source arriving",
            model="a",
            against="their median gap",
            figure=percentile(during, 0.99) / median,
            bar=3.0,
            aim=1.5,
            details={
                "rounds": rounds,
                "gaps": len(during),
                "median_ms": 1000 * median,
                "undisturbed_mean_ms": 1000 * statistics.fmean(before),
                "undisturbed_p99_ms": 1000 * percentile(before, 0.99),
                "disturbed_median_ms": 1000 * statistics.median(during),
                "disturbed_p99_ms": 1000 * percentile(during, 0.99),
                "disturbed_max_ms": 1000 * max(during),
            },
        )
    ]


async def measure_rounds(address: str, rounds: int) -> list[Gaps]:
    """Let the long text arrive so many times."""
    long = _long_request().SerializeToString()
    async with grpc.aio.insecure_channel(address) as channel:
        return [await _round(channel, long) for _ in range(rounds)]


async def _round(channel: grpc.aio.Channel, long: bytes) -> Gaps:
    call: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(
        f"{_SERVICE}/StreamTranslateText"
    )
    streams = [Stream() for _ in range(STREAMS)]
    requests = [_stream_request(text).SerializeToString() for text in dev_texts()[:STREAMS]]
    tasks = [
        asyncio.create_task(_read(call(request), stream))
        for request, stream in zip(requests, streams, strict=True)
    ]
    for stream in streams:
        await stream.begun.wait()
    begun = time.perf_counter()
    await asyncio.sleep(_UNDISTURBED_SECONDS)
    arrived = time.perf_counter()
    long_call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
        f"{_SERVICE}/TranslateText"
    )
    await long_call(long)
    answered = time.perf_counter()
    if any(task.done() for task in tasks):
        raise RuntimeError("a stream ended before the long text was answered")
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return Gaps(
        [gap for stream in streams for gap in stream.gaps(begun, arrived)],
        [gap for stream in streams for gap in stream.gaps(arrived, answered)],
    )


async def _read(call: grpc.aio.UnaryStreamCall[bytes, bytes], stream: Stream) -> None:
    async for _ in call:
        stream.times.append(time.perf_counter())
        stream.begun.set()


def _stream_request(text: str) -> translation_pb2.StreamTranslateTextRequest:
    options = translation_pb2.DecodingOptions(
        beam_size=1, min_output_token_count=_STREAM_TOKENS, max_output_token_count=_STREAM_TOKENS
    )
    return translation_pb2.StreamTranslateTextRequest(content=text, decoding_options=options)


def _long_request() -> translation_pb2.TranslateTextRequest:
    options = translation_pb2.DecodingOptions(beam_size=1, max_output_token_count=4)
    return translation_pb2.TranslateTextRequest(contents=[long_text()], decoding_options=options)


def long_text() -> str:
    """Join sentences of the dev set up to the last that leaves the text within 400 tokens."""
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(DEFAULT_BUNDLE / TOKENIZER))
    text = ""
    for row in dev_texts()[STREAMS:]:
        longer = f"{text} {row}".strip()
        if len(tokenizer.encode(longer)) >= LONG:
            break
        text = longer
    return text


if __name__ == "__main__":
    command(measure, __doc__)
