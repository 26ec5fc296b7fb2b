"""A gRPC server with dynamic batching round another engine, for the same calls as ours.

    python -m benchmarks.service {ctranslate2,transformers} [--workers 1] [--threads 2] ...

It speaks `TranslateText` of one text of one line. Its port is the first line of its output.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress

import grpc
import sentencepiece

from benchmarks.models import DEFAULT_BUNDLE
from benchmarks.service.batching import BatchLimits, DynamicBatcher
from benchmarks.service.engines import Setting, open_decode
from dragoman.engine.bundle import TOKENIZER
from dragoman.v1 import translation_pb2

_SERVICE = "dragoman.v1.TranslationService"
_EOS = 3

Context = grpc.aio.ServicerContext[
    translation_pb2.TranslateTextRequest, translation_pb2.TranslateTextResponse
]


def main() -> None:
    """Serve until killed."""
    arguments = parse_arguments()
    setting = Setting(
        engine=arguments.engine,
        workers=arguments.workers,
        threads=arguments.threads,
        batch_tokens=arguments.batch_tokens,
        precision=arguments.precision,
    )
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(setting, arguments.wait_ms / 1000))


def parse_arguments() -> argparse.Namespace:
    """Read the flags."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service")
    parser.add_argument("engine", choices=("ctranslate2", "transformers"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=1024)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--wait-ms", type=float, default=2.0)
    return parser.parse_args()


class Translator:
    """Tokenizes, waits for the batch, detokenizes."""

    def __init__(self, batcher: DynamicBatcher) -> None:
        self._batcher = batcher
        self._tokenizer = sentencepiece.SentencePieceProcessor(
            model_file=str(DEFAULT_BUNDLE / TOKENIZER)
        )

    async def translate_text(
        self,
        request: translation_pb2.TranslateTextRequest,
        _context: Context,
    ) -> translation_pb2.TranslateTextResponse:
        """Answer one call."""
        source = (*self._tokenizer.encode(request.contents[0]), _EOS)
        output = await self._batcher.translate(source, request.decoding_options.beam_size)
        text = self._tokenizer.decode(output)
        return translation_pb2.TranslateTextResponse(
            translations=[translation_pb2.Translation(text=text)]
        )


async def _serve(setting: Setting, wait_seconds: float) -> None:
    limits = BatchLimits(setting.batch_tokens, wait_seconds)
    batcher = DynamicBatcher(open_decode(setting), setting.workers, limits)
    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(
        Translator(batcher).translate_text,
        request_deserializer=translation_pb2.TranslateTextRequest.FromString,
        response_serializer=translation_pb2.TranslateTextResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(_SERVICE, {"TranslateText": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await batcher.run()


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    """Take uvloop where it is installed, as our server does."""
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return None
    loop: type[asyncio.AbstractEventLoop] = uvloop.Loop
    return loop


if __name__ == "__main__":
    main()
