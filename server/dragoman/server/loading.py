"""Loads a bundle into a running, warm engine with everything that the services need round it."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from dragoman.engine import (
    BundleError,
    Engine,
    EngineError,
    EngineObserver,
    EngineOptions,
    InvalidOptionError,
    TranslationRequest,
)
from dragoman.server.admission import Admission
from dragoman.server.backend import Backend
from dragoman.server.bridge import EventBridge
from dragoman.server.catalog import describe
from dragoman.server.config import Config
from dragoman.server.errors import StartupError
from dragoman.server.reading import Reader
from dragoman.server.runs import Runner

LoadEngine = Callable[[Path, EngineOptions, EngineObserver], Engine]

WARM_UP_TEXT = "1"
WARM_UP_SECONDS = 60.0
STOP_SECONDS = 5.0


async def load_backend(
    config: Config, observer: EngineObserver, load_engine: LoadEngine, tokenizers: Executor
) -> Backend:
    """Load, start and warm the engine.

    Raises:
        StartupError: the bundle is no good, or its model does not run.
    """
    engine = await asyncio.to_thread(_load, config, observer, load_engine)
    model = describe(engine.bundle, engine.limits)
    runner = Runner(
        engine,
        EventBridge(asyncio.get_running_loop()),
        Admission(config.max_queued),
        window=2 * engine.limits.max_rows,
    )
    backend = Backend(
        engine=engine,
        model=model,
        reader=Reader(model, engine.tokenizer, engine.limits, config),
        runner=runner,
        tokenizers=tokenizers,
    )
    try:
        engine.start()
        await _warm_up(backend)
    except BaseException:
        await unload(backend)
        raise
    return backend


async def unload(backend: Backend) -> None:
    """Stop the engine; what still runs in it ends with an error.

    An engine that hangs does not end; it is left behind after `STOP_SECONDS`.
    """
    stopper = threading.Thread(
        target=backend.engine.stop, kwargs={"drain": False}, name="dragoman-stop", daemon=True
    )
    stopper.start()
    await asyncio.to_thread(stopper.join, STOP_SECONDS)
    backend.runner.bridge.close()


def _load(config: Config, observer: EngineObserver, load_engine: LoadEngine) -> Engine:
    path = config.bundle_path
    try:
        options = EngineOptions(
            max_rows=config.max_rows,
            max_queued=config.max_queued,
            decoder_workers=config.decoder_workers,
            decoder_threads=config.decoder_threads,
            encoder_threads=config.encoder_threads,
            source_cache_bytes=config.source_cache_bytes,
            prefix_cache_bytes=config.prefix_cache_bytes,
        )
        return load_engine(path, options, observer)
    except BundleError as error:
        raise StartupError(f"cannot serve the bundle {path}: {error}") from error
    except InvalidOptionError as error:
        raise StartupError(str(error)) from error


async def _warm_up(backend: Backend) -> None:
    """Run one sentence, so that the first caller does not pay for first times."""
    request = TranslationRequest(
        source_ids=backend.engine.tokenizer.encode_source(WARM_UP_TEXT),
        deadline=time.monotonic() + WARM_UP_SECONDS,
    )
    try:
        with backend.runner.translate([request]) as run:
            await run.answers()
    except EngineError as error:
        raise StartupError(f"the model does not run: {error}") from error
