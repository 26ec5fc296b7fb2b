"""Puts the engine's answers into the contract's messages."""

from collections.abc import Iterator, Sequence

from dragoman.engine import (
    FinishReason,
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
        bodies = [tokenizer.decode(answer.result.hypotheses[0].token_ids) for answer in own]
        yield translation_pb2.Translation(
            text=document.split.join(bodies),
            log_probability=log_probability(own),
            finish_reason=finish_reason(own),
            usage=usage(own, arrival),
        )


def log_probability(answers: Answers) -> float:
    """The sum over all tokens of all lines."""
    return sum((answer.result.hypotheses[0].log_probability for answer in answers), 0.0)


def finish_reason(answers: Answers) -> translation_pb2.FinishReason:
    """EMPTY without any line, LENGTH where one was cut, else STOP."""
    if not answers:
        return translation_pb2.FINISH_REASON_EMPTY
    reasons = [answer.result.hypotheses[0].finish_reason for answer in answers]
    if FinishReason.LENGTH in reasons:
        return translation_pb2.FINISH_REASON_LENGTH
    return translation_pb2.FINISH_REASON_STOP


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


def summary(answers: Answers, model: str, arrival: float) -> translation_pb2.TranslationSummary:
    """The last word on a streamed text."""
    return translation_pb2.TranslationSummary(
        log_probability=log_probability(answers),
        finish_reason=finish_reason(answers),
        usage=usage(answers, arrival),
        model=model,
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
