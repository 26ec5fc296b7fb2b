"""The engine as its callers see it: load, start, submit, stop."""

import itertools
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dragoman.engine.bundle import Bundle
from dragoman.engine.checks import Checks
from dragoman.engine.errors import (
    EngineError,
    EngineFailedError,
    EngineStoppedError,
    InvalidRequestError,
    QueueFullError,
)
from dragoman.engine.handle import RequestHandle
from dragoman.engine.jobs import make_job
from dragoman.engine.observer import EngineObserver
from dragoman.engine.options import EngineOptions
from dragoman.engine.parts import Machinery, make_limits, make_registry, open_tokenizer
from dragoman.engine.request import EventCallback, Request
from dragoman.engine.search import Vocabulary
from dragoman.engine.statistics import EngineStatistics


class Engine:
    """Decodes many requests in a running batch, or in one for each of several workers.

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
        self.limits = make_limits(bundle, options)
        self._observer = observer
        self._clock = clock
        self._vocabulary = Vocabulary.of(self.tokenizer)
        self._checks = Checks(self.limits, bundle.tokens)
        self._keys = itertools.count()
        self._registry = make_registry(self.limits, options, clock)
        self._machinery = Machinery.open(bundle, options, self._registry, observer, clock)
        self._loops = self._machinery.steps
        self._encoder_loop = self._machinery.encoder
        self._aligner_loop = self._machinery.aligner
        self._threads: tuple[threading.Thread, ...] = ()
        self._life = threading.Lock()

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
            work: dict[str, Callable[[], None]] = {
                f"steps-{worker}": partial(self._run_steps, worker)
                for worker in range(len(self._loops))
            }
            work |= {"encoder": self._run_encoder, "aligner": self._run_aligner}
            self._threads = tuple(
                threading.Thread(target=run, name=f"dragoman-{name}", daemon=True)
                for name, run in work.items()
            )
            for thread in self._threads:
                thread.start()

    def submit(self, request: Request, on_event: EventCallback) -> RequestHandle:
        """Accept a request. May be called from any thread.

        Args:
            request: what is wanted.
            on_event: called on a thread of the engine's with each event, a terminal one last. It
                must not block; where it raises, the request is cancelled.

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
            # The first step loop to find that nothing more will come ends all threads.
            threads[0].join(timeout)
        self._registry.close()
        for thread in threads:
            thread.join()
        self._loops[0].fail_all(self._registry.remove_all(), self._end_error())

    @property
    def failure(self) -> EngineError | None:
        """Why the engine broke, or None while it works."""
        return self._registry.failure

    def statistics(self) -> EngineStatistics:
        """Count what there is at this moment."""
        return self._machinery.statistics(self._registry, self.limits.max_rows, self._clock())

    def _run_steps(self, worker: int) -> None:
        loop = self._loops[worker]
        try:
            while self._registry.wait_for_work(worker):
                while not self._registry.closed and loop.step():
                    pass
            self._registry.close()
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must hear of it
            self._break(error)
        loop.fail_all(self._registry.remove_all(worker), self._end_error())

    def _run_encoder(self) -> None:
        self._repeat(self._encoder_loop.run_batch)

    def _run_aligner(self) -> None:
        self._repeat(self._aligner_loop.run_turn)

    def _repeat(self, work: Callable[[], bool]) -> None:
        try:
            while work():
                pass
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must hear of it
            self._break(error)

    def _break(self, cause: Exception) -> None:
        failure = EngineFailedError(f"the engine failed: {cause}")
        failure.__cause__ = cause
        self._registry.close(failure)
        if self._registry.failure is failure:
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
