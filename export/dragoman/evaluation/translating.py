"""Translates all sentences through a running server, many requests at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dragoman.client import AsyncClient, FinishReason, InvalidArgumentError, TranslateOptions


@dataclass(frozen=True, slots=True)
class Decoding:
    """One way to decode.

    Attributes:
        name: what results are filed under.
        options: keywords of `AsyncClient.translate`.
    """

    name: str = "greedy"
    options: TranslateOptions = field(default_factory=TranslateOptions)

    def __str__(self) -> str:
        options = self.options.items()  # the name tells the size of the beam
        told = ", ".join(f"{name} {value}" for name, value in options if name != "beam_size")
        return f"{self.name}, {told}" if told else self.name


@dataclass(frozen=True, slots=True)
class Output:
    """What came of one sentence.

    Attributes:
        text: the translation; empty where the server refused the sentence.
        source_tokens: tokens that the model read, end of sentence included.
        target_tokens: tokens of the translation, end of sentence not included.
        is_cut: it was ended by the limit of its tokens.
        is_refused: the server refused the sentence, for example because it is too long.
    """

    text: str
    source_tokens: int = 0
    target_tokens: int = 0
    is_cut: bool = False
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Speed:
    """What a run took, as this side of the connection saw it.

    Attributes:
        seconds: wall time from the first request to the last answer.
        requests: requests under way at the same time.
        sentences, source_tokens, target_tokens: how many went through.
    """

    seconds: float
    requests: int
    sentences: int
    source_tokens: int
    target_tokens: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        values["sentences_per_second"] = self.sentences / self.seconds
        values["target_tokens_per_second"] = self.target_tokens / self.seconds
        return values


async def translate_all(
    client: AsyncClient,
    sources: Sequence[str],
    decoding: Decoding,
    requests: int,
    on_done: Callable[[], object],
) -> tuple[list[Output], Speed]:
    """Translate each source in a request of its own, so many requests at a time.

    Args:
        client: connected to the server.
        sources: the sentences.
        decoding: how to decode.
        requests: how many are under way at the same time, so that the server's batch stays full.
        on_done: called after each sentence.

    Raises:
        DragomanError: a request failed for another reason than its sentence.
    """
    outputs = [Output("")] * len(sources)
    rest = iter(range(len(sources)))

    async def work(rows: Iterator[int]) -> None:
        for row in rows:
            outputs[row] = await _translate(client, sources[row], decoding)
            on_done()

    begin = time.perf_counter()
    await _all_or_none([work(rest) for _ in range(min(requests, len(sources)))])
    seconds = time.perf_counter() - begin
    speed = Speed(
        seconds,
        requests,
        len(outputs),
        sum(output.source_tokens for output in outputs),
        sum(output.target_tokens for output in outputs),
    )
    return outputs, speed


async def _translate(client: AsyncClient, source: str, decoding: Decoding) -> Output:
    try:
        translation = await client.translate(source, **decoding.options)
    except InvalidArgumentError as error:
        if not error.field.startswith("contents"):
            raise
        return Output("", is_refused=True)
    return Output(
        translation.text,
        translation.source_token_count,
        translation.target_token_count,
        is_cut=translation.finish_reason is FinishReason.LENGTH,
    )


async def _all_or_none(works: list[Any]) -> None:
    """Run all; the first failure ends the others and is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
