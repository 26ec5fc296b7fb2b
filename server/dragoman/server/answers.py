"""Puts the engine's answers into the contract's messages."""

import math
from collections.abc import Iterator, Sequence

from dragoman.engine import (
    FinishReason,
    Hypothesis,
    NextTokenPrediction,
    Prefix,
    Tokenizer,
    TranslationResult,
)
from dragoman.server.durations import duration
from dragoman.server.reading import Document
from dragoman.server.runs import Answer
from dragoman.v1 import translation_pb2

Answers = Sequence[Answer[TranslationResult]]


def translations(
    documents: Sequence[Document], answers: Answers, tokenizer: Tokenizer, arrival: float
) -> Iterator[translation_pb2.Translation]:
    """One translation for each document, given the answers to all their lines in order.

    Args:
        documents: the texts.
        answers: to their lines.
        tokenizer: turns tokens into text.
        arrival: when the call came, by `time.monotonic()`.
    """
    start = 0
    for document in documents:
        end = start + len(document.requests)
        own = answers[start:end]
        start = end
        best = [answer.result.hypotheses[0] for answer in own]
        bodies = [tokenizer.decode(hypothesis.token_ids) for hypothesis in best]
        yield translation_pb2.Translation(
            text=document.split.join(bodies),
            log_probability=log_probability(best),
            finish_reason=finish_reason(best),
            usage=usage(own, arrival),
            hypotheses=hypotheses(document, own, tokenizer),
            term_results=term_results(document, bodies),
        )


def log_probability(lines: Sequence[Hypothesis]) -> float:
    """The sum over all tokens of all lines."""
    return math.fsum(hypothesis.log_probability for hypothesis in lines)


def finish_reason(lines: Sequence[Hypothesis]) -> translation_pb2.FinishReason:
    """EMPTY without any line, DEADLINE or LENGTH where one was cut, else STOP."""
    if not lines:
        return translation_pb2.FINISH_REASON_EMPTY
    reasons = {hypothesis.finish_reason for hypothesis in lines}
    if FinishReason.DEADLINE in reasons:
        return translation_pb2.FINISH_REASON_DEADLINE
    if FinishReason.LENGTH in reasons:
        return translation_pb2.FINISH_REASON_LENGTH
    return translation_pb2.FINISH_REASON_STOP


def hypotheses(
    document: Document, answers: Answers, tokenizer: Tokenizer
) -> Iterator[translation_pb2.Hypothesis]:
    """All outputs for a text with one line; none for any other."""
    if len(answers) != 1:
        return
    for hypothesis in answers[0].result.hypotheses:
        body = tokenizer.decode(hypothesis.token_ids)
        yield translation_pb2.Hypothesis(
            text=document.split.join([body]),
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            finish_reason=finish_reason([hypothesis]),
            tokens=tokens(hypothesis, tokenizer) if document.decoding.include_token_scores else (),
            term_results=term_results(document, [body]),
        )


def tokens(hypothesis: Hypothesis, tokenizer: Tokenizer) -> Iterator[translation_pb2.OutputToken]:
    """The tokens of an output, the one that ended it included."""
    ids = hypothesis.token_ids
    if len(hypothesis.log_probabilities) > len(ids):
        ids = (*ids, tokenizer.special.eos)
    for token_id, log_prob in zip(ids, hypothesis.log_probabilities, strict=True):
        yield translation_pb2.OutputToken(
            token_id=token_id,
            piece=tokenizer.piece(token_id),
            text=tokenizer.token_text(token_id),
            log_probability=log_prob,
        )


def term_results(document: Document, bodies: Sequence[str]) -> Iterator[translation_pb2.TermResult]:
    """What became of each term, given the translation of each line."""
    for index, term in enumerate(document.decoding.terms):
        lines = zip(bodies, document.applying, strict=True)
        met = [term.met(body) for body, applying in lines if applying[index]]
        yield translation_pb2.TermResult(source_line_count=len(met), met_line_count=sum(met))


def usage(answers: Answers, arrival: float) -> translation_pb2.Usage:
    """What the lines of one text took."""
    if not answers:
        return translation_pb2.Usage()
    begin = min(answer.submitted + answer.result.timing.queue for answer in answers)
    end = max(answer.submitted + answer.result.timing.total for answer in answers)
    return translation_pb2.Usage(
        source_token_count=sum(answer.result.source_token_count for answer in answers),
        target_token_count=sum(len(answer.result.hypotheses[0].token_ids) for answer in answers),
        queue_duration=duration(begin - arrival),
        model_duration=duration(end - begin),
    )


def summary(
    document: Document, answers: Answers, tokenizer: Tokenizer, model: str, arrival: float
) -> translation_pb2.TranslationSummary:
    """The last word on a streamed text."""
    (translation,) = translations([document], answers, tokenizer, arrival)
    return translation_pb2.TranslationSummary(
        log_probability=translation.log_probability,
        finish_reason=translation.finish_reason,
        usage=translation.usage,
        model=model,
        hypotheses=translation.hypotheses,
        term_results=translation.term_results,
        seed=document.decoding.seed,
    )


def prediction(
    prefix: Prefix, answer: NextTokenPrediction, tokenizer: Tokenizer
) -> translation_pb2.NextTokenPrediction:
    """The distribution after one prefix."""
    return translation_pb2.NextTokenPrediction(
        candidates=[
            translation_pb2.TokenCandidate(
                token_id=candidate.token_id,
                piece=tokenizer.piece(candidate.token_id),
                text=tokenizer.token_text(candidate.token_id),
                log_probability=candidate.log_probability,
            )
            for candidate in answer.candidates
        ],
        queried_tokens=[
            translation_pb2.QueriedToken(
                token_id=token.token_id,
                piece=tokenizer.piece(token.token_id),
                text=tokenizer.token_text(token.token_id),
                log_probability=token.log_probability,
                rank=token.rank,
            )
            for token in answer.queried
        ],
        entropy=answer.entropy,
        prefix_token_ids=translation_pb2.TokenIds(ids=prefix.ids),
    )
