"""Puts the engine's answers into the contract's messages."""

import math
from collections.abc import Iterator, Sequence

from dragoman.engine import (
    Alignment,
    FinishReason,
    Hypothesis,
    NextTokenPrediction,
    Prefix,
    ScoreRequest,
    ScoreResult,
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
            hypotheses=hypotheses(document, own, bodies, tokenizer),
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
    document: Document, answers: Answers, best: Sequence[str], tokenizer: Tokenizer
) -> Iterator[translation_pb2.Hypothesis]:
    """All outputs for a text with one line, `best` of them decoded; none for any other text."""
    if len(answers) != 1:
        return
    for index, hypothesis in enumerate(answers[0].result.hypotheses):
        body = tokenizer.decode(hypothesis.token_ids) if index else best[0]
        yield translation_pb2.Hypothesis(
            text=document.split.join([body]),
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            finish_reason=finish_reason([hypothesis]),
            tokens=tokens(hypothesis.token_ids, hypothesis.log_probabilities, tokenizer)
            if document.decoding.include_tokens
            else (),
            term_results=term_results(document, [body]),
            alignment=alignment(document.requests[0].source_ids, hypothesis.alignment, tokenizer),
        )


def tokens(
    ids: Sequence[int], log_probabilities: Sequence[float], tokenizer: Tokenizer
) -> Iterator[translation_pb2.OutputToken]:
    """The tokens of an output, end-of-sentence last where it has a log-probability too."""
    ended = len(log_probabilities) > len(ids)
    every = (*ids, tokenizer.special.eos) if ended else ids
    for token_id, log_prob in zip(every, log_probabilities, strict=True):
        yield translation_pb2.OutputToken(
            token_id=token_id,
            piece=tokenizer.piece(token_id),
            text=tokenizer.token_text(token_id),
            log_probability=log_prob,
        )


def alignment(
    source_ids: Sequence[int], found: Alignment | None, tokenizer: Tokenizer
) -> translation_pb2.Alignment | None:
    """How an output looks at its source, where that was asked for."""
    if found is None:
        return None
    return translation_pb2.Alignment(
        source_tokens=[
            translation_pb2.SourceToken(
                token_id=token_id,
                piece=tokenizer.piece(token_id),
                text=tokenizer.token_text(token_id),
            )
            for token_id in source_ids
        ],
        attentions=[translation_pb2.Attention(weights=weights) for weights in found.attention],
        links=found.links,
    )


def scores(
    request: ScoreRequest, result: ScoreResult, tokenizer: Tokenizer
) -> Iterator[translation_pb2.TranslationScore]:
    """One score for each given translation."""
    for ids, score in zip(request.targets, result.scores, strict=True):
        yield translation_pb2.TranslationScore(
            log_probability=score.log_probability,
            tokens=tokens(ids, score.log_probabilities, tokenizer),
            alignment=alignment(request.source_ids, score.alignment, tokenizer),
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
