"""Parts of an engine, made from its bundle and its options."""

from dataclasses import dataclass

from dragoman.engine.aligning import AlignerLoop
from dragoman.engine.bundle import DECODER, ENCODER, SCORER, TOKENIZER, WEIGHTS, Bundle
from dragoman.engine.cache import Cache, CacheShape
from dragoman.engine.encoder_session import EncoderSession
from dragoman.engine.encoding import EncoderLoop
from dragoman.engine.errors import BundleError
from dragoman.engine.loop import StepLoop
from dragoman.engine.memory import drop_pages
from dragoman.engine.observer import EngineObserver
from dragoman.engine.options import EngineLimits, EngineOptions
from dragoman.engine.prefixes import PrefixCache
from dragoman.engine.registry import Clock, Registry
from dragoman.engine.rows import Rows
from dragoman.engine.scheduler import Scheduler
from dragoman.engine.scorer import ScorerSession
from dragoman.engine.sessions import DecoderSession, StepInput, open_session
from dragoman.engine.sources import SourceCache
from dragoman.engine.statistics import EngineStatistics
from dragoman.engine.threads import available_cores
from dragoman.engine.tokenizer import Tokenizer

_LEAST_BATCH_TOKENS = 512
_WORKERS = 2


def make_limits(bundle: Bundle, options: EngineOptions) -> EngineLimits:
    """Say what requests to an engine may ask for."""
    return EngineLimits(
        max_source_tokens=bundle.limits.max_source_tokens,
        max_target_tokens=bundle.limits.max_target_tokens,
        max_rows=options.max_rows,
        vocabulary_size=bundle.architecture.vocabulary_size,
    )


def make_registry(limits: EngineLimits, options: EngineOptions, clock: Clock) -> Registry:
    """Begin a registry for an engine of these limits."""
    tokens = options.max_batch_tokens or max(_LEAST_BATCH_TOKENS, limits.max_source_tokens)
    workers = _count_workers(options)
    scheduler = Scheduler(options.max_rows, options.max_queued, tokens, workers)
    return Registry(scheduler, options.max_queued, clock)


def _count_workers(options: EngineOptions) -> int:
    return options.decoder_workers or min(_WORKERS, available_cores())


def open_tokenizer(bundle: Bundle) -> Tokenizer:
    """Load the tokenizer of a bundle.

    Raises:
        BundleError: where it is not the model's.
    """
    tokenizer = Tokenizer(bundle.path(TOKENIZER).read_bytes(), bundle.tokens, TOKENIZER)
    if tokenizer.size != bundle.architecture.vocabulary_size:
        size = bundle.architecture.vocabulary_size
        raise BundleError(TOKENIZER, f"has {tokenizer.size} pieces, the model has {size}")
    return tokenizer


@dataclass(frozen=True, slots=True)
class Machinery:
    """The graphs of a bundle, their buffers and the loops that run them.

    Attributes:
        steps: what decodes, a loop for each worker.
        encoder: what encodes sources.
        aligner: what aligns outputs.
        sources: encoded sources that are kept.
        prefixes: decoded prefixes that are kept.
    """

    steps: tuple[StepLoop, ...]
    encoder: EncoderLoop
    aligner: AlignerLoop
    sources: SourceCache
    prefixes: PrefixCache

    @classmethod
    def open(
        cls,
        bundle: Bundle,
        options: EngineOptions,
        registry: Registry,
        observer: EngineObserver,
        clock: Clock,
    ) -> "Machinery":
        """Load the graphs.

        Raises:
            BundleError: naming the graph that can't be loaded.
        """
        # The two graphs run beside each other: half of the cores each keeps all of them busy.
        threads = max(1, available_cores() // 2)
        encoder_threads = options.encoder_threads or threads
        encoder = EncoderSession(
            open_session(bundle.path(ENCODER), encoder_threads),
            CacheShape.of(bundle, options.max_rows),
            bundle.tokens.pad,
        )
        session = open_session(bundle.path(DECODER), options.decoder_threads or threads)
        prefixes = PrefixCache(options.prefix_cache_bytes)

        def step_loop(worker: int) -> StepLoop:
            # Each has room for all rows: what is never touched takes no memory.
            cache = Cache(CacheShape.of(bundle, options.max_rows))
            step_input = StepInput.zeros(options.max_rows)
            vocabulary = bundle.architecture.vocabulary_size
            decoder = DecoderSession(session, cache, step_input, vocabulary)
            decoder.settle()
            rows = Rows(cache, step_input, bundle.tokens.bos)
            return StepLoop(registry, rows, prefixes, decoder, observer, clock, worker)

        steps = tuple(map(step_loop, range(_count_workers(options))))
        drop_pages(bundle.path(WEIGHTS))
        longest = bundle.limits.max_target_tokens
        scorer = ScorerSession(bundle.path(SCORER), encoder_threads, bundle.tokens, longest)
        sources = SourceCache(options.source_cache_bytes)
        return cls(
            steps,
            EncoderLoop(registry, encoder, sources, observer, clock),
            AlignerLoop(registry, scorer, clock),
            sources,
            prefixes,
        )

    def statistics(self, registry: Registry, slots: int, now: float) -> EngineStatistics:
        """Count what there is at this moment."""
        # What was released is read first: it is never more than what was created.
        released = sum(loop.rows.released for loop in self.steps)
        created = sum(loop.rows.created for loop in self.steps)
        return EngineStatistics(
            queued=registry.queued,
            pending=registry.pending,
            running_rows=created - released,
            slots_total=slots,
            slots_created=created,
            slots_released=released,
            steps=sum(loop.steps for loop in self.steps),
            busy_seconds=self._busy_seconds(now),
            source_cache_hits=self.sources.hits,
            source_cache_misses=self.sources.misses,
            source_cache_bytes=self.sources.bytes,
            prefix_tokens_reused=self.prefixes.reused,
            prefix_tokens_computed=self.prefixes.computed,
            prefix_cache_bytes=self.prefixes.bytes,
        )

    def _busy_seconds(self, now: float) -> float:
        decoding = [loop.busy_since for loop in self.steps]
        begun = (*decoding, self.encoder.busy_since, self.aligner.busy_since)
        return max((now - since for since in begun if since is not None), default=0.0)
