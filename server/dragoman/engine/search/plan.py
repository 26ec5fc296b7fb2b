"""Which searches answer a translation request."""

from dragoman.engine.decoding import (
    SPARE_TOKENS,
    TOKENS_PER_SOURCE_TOKEN,
    DecodingOptions,
)
from dragoman.engine.options import EngineLimits
from dragoman.engine.request import Prefix, TranslationRequest
from dragoman.engine.search.base import TranslationSearch
from dragoman.engine.search.beam import Beam
from dragoman.engine.search.constrained import ConstrainedBeam
from dragoman.engine.search.finished import Stopping
from dragoman.engine.search.greedy import Greedy
from dragoman.engine.search.penalty import LengthPenalty
from dragoman.engine.search.rules import Rules
from dragoman.engine.search.sampling import Sampler
from dragoman.engine.search.single import Single
from dragoman.engine.search.vocabulary import Vocabulary


def plan_searches(
    request: TranslationRequest, vocabulary: Vocabulary, limits: EngineLimits
) -> list[TranslationSearch]:
    """Begin the searches for a request that was checked, one for each of its branches.

    Returns:
        One search; or one for each sample or each alternative, in order.
    """
    options = request.options
    prefix = Prefix(request.prefix_ids, request.starts_new_word)
    limit = output_limit(request, limits)
    penalty = LengthPenalty(options.length_penalty, limit)
    if is_plain(options):
        return [Greedy(vocabulary, prefix, penalty, options.min_output_tokens)]
    rules = Rules(vocabulary, prefix, limit, options)
    if options.alternatives:
        return [_search(options, rules, penalty, 0, rank) for rank in range(options.alternatives)]
    samples = 1 if options.sampling is None else options.sampling.sample_count
    return [_search(options, rules, penalty, index, None) for index in range(samples)]


def output_limit(request: TranslationRequest, limits: EngineLimits) -> int:
    """Give the most tokens of an output, end-of-sentence included.

    What a beam search must rule out before it ends grows with this, so where the request doesn't
    say it, it isn't more than a translation of the source may reasonably need.
    """
    options, most = request.options, limits.max_target_tokens
    if options.max_output_tokens is not None:
        return options.max_output_tokens
    if options.beam_size == 1:
        return most
    terms = sum(min(map(len, term.target_ids)) for term in options.terms if term.hard)
    fixed = len(request.prefix_ids) + terms
    needed = fixed + SPARE_TOKENS + TOKENS_PER_SOURCE_TOKEN * len(request.source_ids)
    return min(most, max(needed, options.min_output_tokens))


def is_plain(options: DecodingOptions) -> bool:
    """Whether the quick greedy search does all that is asked for."""
    return (
        options.beam_size == 1
        and options.sampling is None
        and options.repetition_penalty == 1
        and options.no_repeat_ngram_size == 0
        and not options.suppressed_ids
        and options.prefix_bias is None
        and options.alternatives == 0
        and not options.terms
    )


def _search(
    options: DecodingOptions,
    rules: Rules,
    penalty: LengthPenalty,
    sample: int,
    alternative: int | None,
) -> TranslationSearch:
    if options.beam_size > 1:
        return _beam(options, rules, penalty, alternative)
    if options.sampling is None:
        return Single(rules, penalty, None, alternative=alternative)
    sampler = Sampler(options.sampling, sample)
    top_k = options.sampling.top_k
    return Single(rules, penalty, sampler, top_k=top_k, alternative=alternative)


def _beam(
    options: DecodingOptions, rules: Rules, penalty: LengthPenalty, alternative: int | None
) -> Beam:
    size, stopping = options.beam_size, Stopping.of(options)
    if rules.terms is not None and rules.constrained:
        return ConstrainedBeam(rules, rules.terms, penalty, size, stopping, alternative=alternative)
    return Beam(rules, penalty, size, stopping, alternative=alternative)
