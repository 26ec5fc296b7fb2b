"""The options of ``dragoman translate`` that say how to decode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any

import typer

from dragoman.client.decoding import Sampling, Term
from dragoman.client.options import TranslateOptions

Command = Callable[..., None]

_DECODING = "Decoding"
_SAMPLING = "Sampling"
_TERMS = "Terms"


def _option(text: str, panel: str = _DECODING, *names: str) -> Any:  # noqa: ANN401 - typer's own
    return typer.Option(*names, help=text, rich_help_panel=panel)


def decoding(
    *,
    beam_size: Annotated[
        int | None,
        _option("Outputs searched side by side, 1 to 16. Default: the server's setting."),
    ] = None,
    n_best: Annotated[
        int | None, _option("Show so many translations with their scores, best first.")
    ] = None,
    length_penalty: Annotated[
        float | None, _option("-2 to 2; above 0 favours longer ones. Default: 1.")
    ] = None,
    patience: Annotated[
        float | None,
        _option("End when so many times --beam-size have finished; 0: never. Default: 1."),
    ] = None,
    pruning_margin: Annotated[
        float | None, _option("Give up what is so many nats behind; 0: nothing. Default: 1.5.")
    ] = None,
    max_output_tokens: Annotated[
        int | None, _option("The most tokens of a line's translation.")
    ] = None,
    min_output_tokens: Annotated[int | None, _option("The fewest tokens of it.")] = None,
    repetition_penalty: Annotated[
        float | None, _option("0.1 to 10; above 1 discourages repeated tokens. Default: 1.")
    ] = None,
    no_repeat_ngram_size: Annotated[
        int | None, _option("So many tokens in a row never occur twice, 1 to 10. Default: 0, off.")
    ] = None,
    suppress: Annotated[
        list[int] | None, _option("The id of a token never to choose; may be repeated.")
    ] = None,
    prefix: Annotated[str, _option("What each translation starts with.")] = "",
    prefix_bias: Annotated[
        float | None, _option("Make the prefix a wish: the probability of its next token, below 1.")
    ] = None,
    alternatives: Annotated[
        int | None, _option("Show one translation for each of so many next tokens, 1 to 32.")
    ] = None,
    scores: Annotated[
        bool, _option("Show the tokens and their log-probabilities.", _DECODING, "--scores")
    ] = False,
    alignment: Annotated[
        bool,
        _option(
            "Show them, each with the source token that it looks at.", _DECODING, "--alignment"
        ),
    ] = False,
    finish_at_deadline: Annotated[
        bool,
        _option("Show the best so far when --timeout nears.", _DECODING, "--finish-at-deadline"),
    ] = False,
    sample: Annotated[
        bool, _option("Draw by chance, as any other option here does.", _SAMPLING, "--sample")
    ] = False,
    temperature: Annotated[
        float | None, _option("0.01 to 10; below 1 draws likelier ones. Default: 1.", _SAMPLING)
    ] = None,
    top_k: Annotated[
        int | None,
        _option("Only so many of the likeliest tokens, 1 to 1000. Default: all.", _SAMPLING),
    ] = None,
    top_p: Annotated[
        float | None,
        _option("Only the likeliest tokens that reach this sum. Default: 1, all.", _SAMPLING),
    ] = None,
    min_p: Annotated[
        float | None,
        _option("Only tokens this many times as likely as the likeliest. Default: 0.", _SAMPLING),
    ] = None,
    samples: Annotated[
        int | None,
        _option("Draw so many, 1 to 16, show the best. Default: as --n-best.", _SAMPLING),
    ] = None,
    seed: Annotated[
        int | None, _option("Draw the same again. Default: one that is told.", _SAMPLING)
    ] = None,
    term: Annotated[
        list[str] | None,
        _option("source=target or source=target|target: must be used; may be repeated.", _TERMS),
    ] = None,
    soft_term: Annotated[
        list[str] | None, _option("The same, but it should be used; may be repeated.", _TERMS)
    ] = None,
    term_bonus: Annotated[
        float | None, _option("How strongly soft terms are preferred, 0 to 10. Default: 1.", _TERMS)
    ] = None,
    match_case: Annotated[
        bool, _option("Terms apply where upper and lower case agree.", _TERMS, "--match-case")
    ] = False,
) -> TranslateOptions:
    """Make the keywords of `Client.translate` that a command's options describe."""
    if term_bonus is not None and not soft_term:
        raise typer.BadParameter("--term-bonus is for a --soft-term")
    if match_case and not (term or soft_term):
        raise typer.BadParameter("--match-case is for a --term or --soft-term")
    drawing = Sampling(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        sample_count=samples,
        seed=seed,
    )
    return TranslateOptions(
        beam_size=beam_size,
        hypothesis_count=n_best,
        length_penalty=length_penalty,
        patience=patience,
        pruning_margin=pruning_margin,
        max_output_tokens=max_output_tokens,
        min_output_tokens=min_output_tokens,
        repetition_penalty=repetition_penalty,
        no_repeat_ngram_size=no_repeat_ngram_size,
        suppressed_token_ids=suppress or [],
        prefix=prefix,
        prefix_bias=prefix_bias,
        alternative_count=alternatives,
        include_token_scores=scores,
        include_alignment=alignment,
        finish_at_deadline=finish_at_deadline,
        sampling=drawing if sample or drawing != Sampling() else None,
        terms=[
            replace(each, match_case=match_case)
            for each in (
                *_terms("--term", term or (), hard=True, bonus=None),
                *_terms("--soft-term", soft_term or (), hard=False, bonus=term_bonus),
            )
        ],
    )


def decoded(command: Command) -> Command:
    """Give a command `TranslateOptions` as its second argument, and the options of `decoding`."""
    shared = list(inspect.signature(decoding, eval_str=True).parameters.values())
    client, _, *own = inspect.signature(command, eval_str=True).parameters.values()

    @functools.wraps(command)
    def run(client: object, **arguments: object) -> None:
        given: dict[str, Any] = {each.name: arguments.pop(each.name) for each in shared}
        command(client, decoding(**given), **arguments)

    # Typer shows options in the order of the signature: the command's own come first.
    parameters = [client, *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own)]
    run.__signature__ = inspect.Signature([*parameters, *shared])  # type: ignore[attr-defined]
    return run


def _terms(
    option: str, texts: list[str] | tuple[str, ...], *, hard: bool, bonus: float | None
) -> Iterator[Term]:
    for text in texts:
        source, equals, target = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{option}: {text!r} is not of the form source=target")
        yield Term(source, tuple(target.split("|")), hard=hard, bonus=bonus)
