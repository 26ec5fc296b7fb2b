"""Parts of an engine, made from its bundle and its options."""

from dragoman.engine.bundle import TOKENIZER, Bundle
from dragoman.engine.errors import BundleError
from dragoman.engine.options import EngineLimits, EngineOptions
from dragoman.engine.scheduler import Scheduler
from dragoman.engine.tokenizer import Tokenizer

_LEAST_BATCH_TOKENS = 512


def make_scheduler(limits: EngineLimits, options: EngineOptions) -> Scheduler:
    """Begin a scheduler for an engine of these limits."""
    tokens = options.max_batch_tokens or max(_LEAST_BATCH_TOKENS, limits.max_source_tokens)
    return Scheduler(options.max_rows, options.max_queued, tokens)


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
