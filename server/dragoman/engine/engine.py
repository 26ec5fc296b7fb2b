"""The engine as its callers see it: load, start, submit, stop."""

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path

from dragoman.engine.bundle import DECODER, ENCODER, SCORER, Bundle
from dragoman.engine.cache import Cache, CacheShape
from dragoman.engine.checks import Checks
from dragoman.engine.encoding import EncoderLoop
from dragoman.engine.errors import (
    EngineError,
    EngineFailedError,
    EngineStoppedError,
    InvalidRequestError,
    QueueFullError,
)
from dragoman.engine.handle import RequestHandle
from dragoman.engine.jobs import make_job
from dragoman.engine.loop import StepLoop
from dragoman.engine.observer import EngineObserver
from dragoman.engine.options import EngineLimits, EngineOptions
from dragoman.engine.parts import make_scheduler, open_tokenizer
from dragoman.engine.prefixes import PrefixCache
from dragoman.engine.registry import Registry
from dragoman.engine.request import EventCallback, Request
from dragoman.engine.rows import Rows
from dragoman.engine.scorer import ScorerSession
from dragoman.engine.search import Vocabulary
from dragoman.engine.sessions import DecoderSession, EncoderSession, StepInput, open_session
from dragoman.engine.sources import SourceCache
from dragoman.engine.statistics import EngineStatistics
from dragoman.engine.threads import available_cores


class Engine:
    """Decodes many requests in one running batch.

    Results depend on the request and the bundle alone: tokens and log-probabilities are the same,
    bit for bit, whatever else runs, on one machine with one version of ONNX Runtime.

    Attributes:
        bundle: the model that it serves.
        tokenizer: the model's tokenizer.
        limits: what a request may ask for.
    """

    def __init__(
        self,
        bundle: Bundle,
        options: EngineOptions,
        observer: EngineObserver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Load the graphs of a verified bundle; `Engine.load` verifies and does this."""
        self.bundle = bundle
        self.tokenizer = open_tokenizer(bundle)
        self.limits = EngineLimits(
            max_source_tokens=bundle.limits.max_source_tokens,
            max_target_tokens=bundle.limits.max_target_tokens,
            max_rows=options.max_rows,
            vocabulary_size=bundle.architecture.vocabulary_size,
        )
        self._observer = observer
        self._clock = clock
        self._vocabulary = Vocabulary.of(self.tokenizer)
        self._checks = Checks(self.limits, bundle.tokens)
        self._keys = itertools.count()
        self._registry = Registry(make_scheduler(self.limits, options), options.max_queued, clock)
        self._open_graphs(options)
        self._threads: tuple[threading.Thread, ...] = ()
        self._life = threading.Lock()

    def _open_graphs(self, options: EngineOptions) -> None:
        bundle = self.bundle
        # The two graphs run beside each other: half of the cores each keeps all of them busy.
        threads = max(1, available_cores() // 2)
        cache = Cache(CacheShape.of(bundle, options.max_rows))
        encoder = EncoderSession(
            open_session(bundle.path(ENCODER), options.encoder_threads or threads),
            cache.shape,
            bundle.tokens.pad,
        )
        step_input = StepInput.zeros(options.max_rows)
        decoder = DecoderSession(
            open_session(bundle.path(DECODER), options.decoder_threads or threads),
            cache,
            step_input,
            self.limits.vocabulary_size,
        )
        self._rows = Rows(cache, step_input, bundle.tokens.bos)
        self._prefixes = PrefixCache(options.prefix_cache_bytes)
        self._sources = SourceCache(options.source_cache_bytes)
        self._loop = StepLoop(
            self._registry, self._rows, self._prefixes, decoder, self._observer, self._clock
        )
        scorer = ScorerSession(
            bundle.path(SCORER),
            options.encoder_threads or threads,
            bundle.tokens,
            self.limits.max_target_tokens,
        )
        self._encoder_loop = EncoderLoop(
            self._registry, encoder, self._sources, scorer, self._observer, self._clock
        )

    @classmethod
    def load(
        cls,
        bundle: Path,
        options: EngineOptions | None = None,
        observer: EngineObserver | None = None,
    ) -> "Engine":
        """Verify a bundle and load it; nothing runs before `start`.

        Args:
            bundle: its directory.
            options: how much the engine takes on at once.
            observer: hears what the engine does.

        Raises:
            BundleError: naming the file or field that is missing or wrong.
        """
        return cls(Bundle.load(bundle), options or EngineOptions(), observer or EngineObserver())

    def start(self) -> None:
        """Begin to work; once started it does nothing.

        Raises:
            EngineStoppedError: after `stop`.
        """
        with self._life:
            if self._threads:
                return
            if self._registry.closed:
                raise EngineStoppedError
            self._threads = (
                threading.Thread(target=self._run_steps, name="dragoman-steps", daemon=True),
                threading.Thread(target=self._run_encoder, name="dragoman-encoder", daemon=True),
            )
            for thread in self._threads:
                thread.start()

    def submit(self, request: Request, on_event: EventCallback) -> RequestHandle:
        """Accept a request. May be called from any thread.

        Args:
            request: what is wanted.
            on_event: called on the engine's thread with each event, a terminal one last. It must
                not block; where it raises, the request is cancelled.

        Raises:
            InvalidRequestError: naming the field that is out of bounds.
            QueueFullError: where too many requests wait.
            EngineStoppedError: once `stop` was called.
            EngineFailedError: once the engine broke.
        """
        key = next(self._keys)
        try:
            self._checks.check(request)
            self._registry.add(make_job(key, request, self._vocabulary, self.limits, on_event))
        except EngineError as error:
            self._observer.request_rejected(_rejection(error))
            raise
        self._observer.request_queued()
        return RequestHandle(self._registry, key)

    def stop(self, drain: bool = True, timeout: float | None = None) -> None:
        """Accept no more requests and end; a second call waits for the first one's end.

        Args:
            drain: whether accepted requests are still answered; else they fail with
                `EngineStoppedError`.
            timeout: seconds after which draining is given up.
        """
        self._registry.drain()
        with self._life:
            threads = self._threads
        if drain and threads:
            threads[0].join(timeout)
        self._registry.close()
        for thread in threads:
            thread.join()
        self._loop.fail_all(self._registry.remove_all(), self._end_error())

    @property
    def failure(self) -> EngineError | None:
        """Why the engine broke, or None while it works."""
        return self._registry.failure

    def statistics(self) -> EngineStatistics:
        """Count what there is at this moment."""
        rows = self._rows
        released, created = rows.released, rows.created
        return EngineStatistics(
            queued=self._registry.queued,
            pending=self._registry.pending,
            running_rows=created - released,
            slots_total=self.limits.max_rows,
            slots_created=created,
            slots_released=released,
            steps=self._loop.steps,
            busy_seconds=self._busy_seconds(),
            source_cache_hits=self._sources.hits,
            source_cache_misses=self._sources.misses,
            source_cache_bytes=self._sources.bytes,
            prefix_tokens_reused=self._prefixes.reused,
            prefix_tokens_computed=self._prefixes.computed,
            prefix_cache_bytes=self._prefixes.bytes,
        )

    def _busy_seconds(self) -> float:
        begun = [self._loop.busy_since, self._encoder_loop.busy_since]
        now = self._clock()
        return max((now - since for since in begun if since is not None), default=0.0)

    def _run_steps(self) -> None:
        try:
            while self._registry.wait_for_work():
                while not self._registry.closed and self._loop.step():
                    pass
            self._registry.close()
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must hear of it
            self._break(error)
        self._loop.fail_all(self._registry.remove_all(), self._end_error())

    def _run_encoder(self) -> None:
        try:
            while self._encoder_loop.run_batch():
                pass
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must hear of it
            self._break(error)

    def _break(self, cause: Exception) -> None:
        failure = EngineFailedError(f"the engine failed: {cause}")
        failure.__cause__ = cause
        self._registry.close(failure)
        self._observer.engine_failed(failure)

    def _end_error(self) -> EngineError:
        return self._registry.failure or EngineStoppedError()


def _rejection(error: EngineError) -> str:
    match error:
        case InvalidRequestError():
            return "invalid"
        case QueueFullError():
            return "queue_full"
        case EngineStoppedError():
            return "stopped"
        case _:
            return "failed"
