"""The life of a server: startup, serving, shutdown."""

import asyncio
import gc
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Self

import grpc
from prometheus_client import CollectorRegistry
from structlog.typing import FilteringBoundLogger

from dragoman.engine import Engine, EngineError, EngineFailedError, EngineStatistics
from dragoman.server import listener
from dragoman.server.backend import Backend, Gate
from dragoman.server.config import Config
from dragoman.server.endpoint import MetricsEndpoint
from dragoman.server.engine_metrics import EngineLevels, EngineMetrics
from dragoman.server.errors import CallError, DrainingError
from dragoman.server.health import Health
from dragoman.server.interceptors import AccessLogInterceptor, ErrorInterceptor, MetricsInterceptor
from dragoman.server.loading import LoadEngine, load_backend, unload
from dragoman.server.logs import build_logger
from dragoman.server.metrics import CallMetrics, ProblemMetrics, describe_process, watch_health
from dragoman.server.watchdog import engine_failure

SWITCH_SECONDS = 0.0005
QUIET_SECONDS, QUIET_TRIES = 0.05, 20
FAILURE_GRACE_SECONDS = 1.0
"""After the engine failed, or the grace is over: time for the errors to reach the clients."""


class Server:
    """One model behind one gRPC port, on the event loop that it is started on.

    `run` is the whole life of a process; programs that embed a server and tests use `running`.

    Args:
        config: all settings.
        logger: where to log; by default made from `config`, to standard error.
        load_engine: loads the bundle.

    Attributes:
        config: all settings.
        port: the gRPC port, once started.
        metrics_port: the HTTP port, once started; None without metrics.
        registry: the metrics.
        exit_code: what the process should end with: 1 after the engine failed, else 0.
    """

    def __init__(
        self,
        config: Config,
        logger: FilteringBoundLogger | None = None,
        load_engine: LoadEngine = Engine.load,
    ) -> None:
        self.config = config
        self.port = 0
        self.metrics_port: int | None = None
        self.registry = CollectorRegistry()
        self.exit_code = 0
        self._logger = logger if logger is not None else build_logger(config)
        self._load_engine = load_engine
        self._gate = Gate()
        self._health = Health(listener.OWN_SERVICES)
        self._methods = listener.methods(config)
        self._calls = MetricsInterceptor(
            self._methods, CallMetrics(self.registry, self._methods.values())
        )
        self._access_log = AccessLogInterceptor(self._methods, self._logger)
        self._engine_metrics = EngineMetrics(self.registry)
        self._endpoint = MetricsEndpoint(self.registry, lambda: self._health.is_serving)
        self._tokenizers = ThreadPoolExecutor(1, "dragoman-tokenizer")
        self._grpc: grpc.aio.Server | None = None
        self._backend: Backend | None = None
        self._watch: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        describe_process(self.registry, version("dragoman"))
        watch_health(self.registry, lambda: self._health.is_serving)
        self.registry.register(EngineLevels(self._statistics))

    async def run(self) -> int:
        """Serve until SIGTERM or SIGINT, or until the engine fails; return the exit code.

        Raises:
            StartupError: the server cannot start.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.request_stop, signal.Signals(number).name)
        try:
            async with self:
                _tune_interpreter()
                await self._stop.wait()
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
        return self.exit_code

    async def __aenter__(self) -> Self:
        try:
            await self.startup()
        except BaseException:
            await self.shutdown()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.shutdown()

    def request_stop(self, reason: str = "request") -> None:
        """Stop in good order; a second request does not wait for what runs."""
        if self._stop.is_set():
            self._hurry.set()
        self._logger.info("stop_requested", reason=reason, hurry=self._hurry.is_set())
        self._stop.set()

    async def startup(self) -> None:
        """Listen, then load the model, then say SERVING.

        Health checks are answered from the first moment; other calls get UNAVAILABLE until the
        model is warm.

        Raises:
            StartupError: an address, a TLS file or the bundle is no good.
        """
        begin = time.perf_counter()
        if self.config.metrics:
            self.metrics_port = self._endpoint.start(self.config.host, self.config.metrics_port)
        self._grpc = listener.build(self.config, self._gate, self._health, self._interceptors())
        self.port = listener.listen(self._grpc, self.config)
        await self._grpc.start()
        self._logger.info(
            "listening",
            host=self.config.host,
            port=self.port,
            metrics_port=self.metrics_port,
            tls=self.config.tls_cert is not None,
            mutual_tls=self.config.tls_client_ca is not None,
        )
        self._backend = await load_backend(
            self.config, self._engine_metrics, self._load_engine, self._tokenizers
        )
        self._engine_metrics.begin()
        self._gate.open(self._backend)
        await self._health.set(serving=True)
        self._watch = asyncio.create_task(self._watch_engine(self._backend), name="engine-watch")
        self._logger.info(
            "serving", model=self._backend.model.name, seconds=round(time.perf_counter() - begin, 3)
        )

    async def shutdown(self) -> None:
        """Stop in good order: settle, drain, end. Also ends a startup that failed half-way."""
        await self._health.set(serving=False)
        if self._watch is not None:
            if not self.exit_code:
                await self._settle()
            self._watch.cancel()
        await self._health.close()
        if self._grpc is not None:
            await self._drain(self._grpc)
        if self._backend is not None:
            await unload(self._backend)
        await asyncio.to_thread(self._endpoint.stop)
        self._tokenizers.shutdown()
        self._access_log.flush()
        if self._watch is not None:
            self._logger.info("stopped", exit_code=self.exit_code)

    async def _settle(self) -> None:
        """Serve on for a moment: balancers and clients need time to see NOT_SERVING.

        Then wait a little for a moment in which no call begins: gRPC cancels a call that has
        arrived and that the event loop has not seen yet when the server stops.
        """
        self._logger.info("settling", seconds=self.config.settle_seconds)
        await _wait(self._hurry, self.config.settle_seconds)
        for _ in range(QUIET_TRIES):
            if self._calls.quiet_seconds >= QUIET_SECONDS:
                return
            await asyncio.sleep(QUIET_SECONDS)

    async def _drain(self, server: grpc.aio.Server) -> None:
        """Take no more calls, let those under way finish; then end them with an error."""
        grace = FAILURE_GRACE_SECONDS if self.exit_code else self.config.drain_grace_seconds
        stopping = asyncio.create_task(server.stop(grace + FAILURE_GRACE_SECONDS))
        hurry = asyncio.create_task(self._hurry.wait())
        await asyncio.wait((stopping, hurry), timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not stopping.done():
            self._refuse(DrainingError)
        await stopping

    async def _watch_engine(self, backend: Backend) -> None:
        failure = await engine_failure(backend.engine, self.config.stall_seconds)
        self.exit_code = 1
        await self._health.set(serving=False)
        self._logger.error("engine_failed", exc_info=failure)
        self._refuse(lambda: EngineFailedError("the engine has failed"))
        self._stop.set()

    def _refuse(self, error: Callable[[], EngineError | CallError]) -> None:
        """End what runs and refuse what comes."""
        self._gate.shut(error)
        if self._backend is not None:
            ended = self._backend.runner.fail_all(error())
            self._logger.warning("calls_ended", count=ended, error=str(error()))

    def _interceptors(self) -> list[grpc.aio.ServerInterceptor]:
        log = [self._access_log] if self.config.log_calls else []
        errors = ErrorInterceptor(self._methods, self._logger, ProblemMetrics(self.registry))
        return [self._calls, *log, errors]

    def _statistics(self) -> EngineStatistics | None:
        return self._backend.engine.statistics() if self._backend is not None else None


def running(config: Config, logger: FilteringBoundLogger | None = None) -> Server:
    """Make a server to be entered.

    ``async with running(Config(port=0, metrics_port=0)) as server: server.port``
    """
    return Server(config, logger)


def _tune_interpreter() -> None:
    """Set what only the owner of a process may set."""
    # Modules and model live as long as the process: the collector need not look at them again.
    gc.collect()
    gc.freeze()
    # The decoder's workers and the event loop hand the interpreter to and fro at every step; with
    # the usual 5 ms a step of half a millisecond waits for whatever the others are doing (measured:
    # with 0.5 ms 12 % more greedy texts a second and 10 % more with a beam of 4, two workers on two
    # cores; with 0.1 ms 5 % fewer again).
    sys.setswitchinterval(SWITCH_SECONDS)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
