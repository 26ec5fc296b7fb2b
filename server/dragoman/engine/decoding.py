"""How one source is decoded: everything that a request may ask for, with its range and default.

The bounds are checked when a request is submitted, before anything is allocated for it.
"""

from dataclasses import dataclass
from enum import Enum, auto

MAX_BEAM_SIZE = 16
MAX_PATIENCE = 100.0
MAX_PRUNING_MARGIN = 100.0
MAX_SAMPLES = 16
MAX_ALTERNATIVES = 32
MAX_SUPPRESSED_IDS = 1000
MAX_NGRAM_SIZE = 10
MAX_SAMPLING_TOP_K = 1000
MAX_TERMS = 64
MAX_TERM_TARGETS = 16
MAX_TERM_LENGTH = 64
MAX_TERM_TOKENS = 2048
MAX_BONUS = 10.0
SPARE_TOKENS = 32
TOKENS_PER_SOURCE_TOKEN = 2


class OnDeadline(Enum):
    """What a request gets whose deadline nears before its result is complete."""

    FAIL = auto()
    """`DeadlineExceededError`, at the deadline."""
    BEST = auto()
    """The best output so far, a little before the deadline; what is cut by it ends with
    `FinishReason.DEADLINE`. Where no token was chosen yet, `DeadlineExceededError`."""


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """Draw each token by chance, instead of searching for the most probable output.

    The options narrow the distribution one after the other, in the order given here; what is left
    is renormalised. Sample i is drawn with numbers that depend on `seed`, i and the position
    alone: it doesn't depend on what else runs, nor on `sample_count`.

    Attributes:
        temperature: 0.01 to 10; log-probabilities are divided by it. 1 leaves them as they are.
        top_k: only this many of the most probable tokens, 0 to 1000; 0 means all.
        top_p: only the fewest most probable tokens whose probabilities reach this sum; above 0,
            at most 1; 1 means all.
        min_p: only tokens at least this many times as probable as the most probable one; 0 to
            below 1; 0 means all.
        sample_count: independent outputs that are drawn, 1 to 16.
        seed: a signed 64-bit integer.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    sample_count: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """Wording that the output must or should contain.

    Attributes:
        target_ids: the spellings that will do, 1 to 16, each a sequence of 1 to 64 tokens of
            text, fewer than the model's `max_target_tokens`. A term is met where the output
            contains one of them, token by token.
        hard: whether the output must contain it; needs beam search. Otherwise it is preferred.
        bonus: of a term that isn't hard, 0 to 10 nats: added to a hypothesis for each token
            while the term is being spelt, and taken back where the spelling breaks off.
    """

    target_ids: tuple[tuple[int, ...], ...]
    hard: bool = True
    bonus: float = 1.0


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """How one source is decoded.

    Hypotheses are ranked by score = (sum of log-probabilities) / ((5 + n) / 6) ** length_penalty
    with n the number of output tokens, a forced prefix and the end-of-sentence token included.
    A beam search keeps, of each step's `beam_size` best continuations, with terms of twice as many,
    those that end the sentence as finished, and of all of them the first `beam_size` others as
    live. It ends when `patience` is over or, if that comes first, when none of the live ones can
    still beat the best of the finished ones, however it went on; `pruning_margin` makes it narrower
    where one continuation is much better than the others. What it has given up is followed only
    where more hypotheses are wanted: how many are, never changes the first one. An output that is
    cut at its longest length counts as it stands.

    Attributes:
        max_output_tokens: most tokens of the output, a forced prefix and the end-of-sentence
            token included: more than the prefix has, at most the model's `max_target_tokens`.
            None: `max_target_tokens`; in a beam search, where that is less, 32 tokens and 2 for
            each token of the source beside the prefix and hard terms, or `min_output_tokens`.
        min_output_tokens: fewest, counted in the same way, 0 to `max_output_tokens`: before that
            the end-of-sentence token is not chosen. An output always has a token of text.
        beam_size: hypotheses that are searched side by side, 1 to 16 and at most the engine's
            rows. 1 takes the most probable token at each step.
        hypothesis_count: hypotheses that are given back, best first, 1 to `beam_size` or, where
            it is larger, `sample_count`. There are fewer where the search found no more.
        length_penalty: exponent of the score's denominator, -2 to 2; above 0 favours longer
            outputs, 0 ranks by probability alone.
        patience: the search for the best output ends when `beam_size` x `patience`, rounded and at
            least 1, have finished: 0 to 100. Kasai et al., "A Call for Clarity in Beam Search". 0
            doesn't limit it: it then ends when nothing better can be found.
        pruning_margin: nats, 0 to 100: continuations whose sum of log-probabilities is further
            than this below that of the step's best are given up. Freitag and Al-Onaizan, "Beam
            Search Strategies for Neural Machine Translation", absolute threshold pruning. 0 keeps
            all. With terms all are kept, too.
        sampling: draw the output instead; with `beam_size` 1 and no hard terms.
        repetition_penalty: 0.1 to 10; the log-probability of each token that the output already
            contains, its prefix included, is multiplied by it. 1 changes nothing.
        no_repeat_ngram_size: no sequence of this many tokens occurs twice in the output, its
            prefix included; 0 to 10; 0 allows all. Source and control tokens don't count.
        suppressed_ids: at most 1000 tokens that are never chosen, beside the unknown token,
            padding and begin-of-sentence; a forced prefix may contain them.
        prefix_bias: None forces the prefix. Otherwise, at least 0 and below 1: while the output
            follows the prefix, the next token of it gets this probability and all tokens share
            the rest as the model would have it.
        alternatives: 0 to 32; where above 0, one hypothesis for each of the most probable tokens
            right after the prefix, in that order, each continued by itself as the other options
            say; with `hypothesis_count` 1, one sample and no `prefix_bias`.
        on_deadline: what happens when the deadline nears.
        terms: at most 64 wordings that the output must or should contain, with at most 2048
            tokens in all their spellings. The hard ones must fit into the output beside the
            prefix. With terms, a search looks for `beam_size` finished hypotheses.
        return_alignment: whether each hypothesis comes with its alignment.
    """

    max_output_tokens: int | None = None
    min_output_tokens: int = 0
    beam_size: int = 1
    hypothesis_count: int = 1
    length_penalty: float = 1.0
    patience: float = 1.0
    pruning_margin: float = 1.5
    sampling: SamplingOptions | None = None
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    suppressed_ids: tuple[int, ...] = ()
    prefix_bias: float | None = None
    alternatives: int = 0
    on_deadline: OnDeadline = OnDeadline.FAIL
    terms: tuple[Term, ...] = ()
    return_alignment: bool = False
