"""The options of ``dragoman translate`` that say how to decode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
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
        int | None, _option("Translations searched side by side, 1 to 16; the server's setting.")
    ] = None,
    n_best: Annotated[
        int | None, _option("Show so many translations with their scores, best first.")
    ] = None,
    length_penalty: Annotated[
        float | None, _option("-2 to 2; above 0 favours longer ones; 1.")
    ] = None,
    patience: Annotated[
        float | None, _option("End after so many times the beam's size; 0 for no limit; 1.")
    ] = None,
    pruning_margin: Annotated[
        float | None, _option("Give up what is so many nats behind; 0 for nothing; 1.5.")
    ] = None,
    max_output_tokens: Annotated[
        int | None, _option("The most tokens of a line's translation.")
    ] = None,
    min_output_tokens: Annotated[int | None, _option("The fewest tokens of it.")] = None,
    repetition_penalty: Annotated[
        float | None, _option("0.1 to 10; above 1 discourages repeated tokens.")
    ] = None,
    no_repeat_ngram_size: Annotated[
        int | None, _option("No so many tokens in a row occur twice, 1 to 10.")
    ] = None,
    suppress: Annotated[
        list[int] | None, _option("The id of a token never to choose; may be repeated.")
    ] = None,
    prefix: Annotated[str, _option("What each translation starts with.")] = "",
    prefix_bias: Annotated[
        float | None, _option("Make the prefix a wish of this strength, 0 to below 1.")
    ] = None,
    alternatives: Annotated[
        int | None, _option("Show one translation for each of so many next tokens, 1 to 32.")
    ] = None,
    scores: Annotated[
        bool, _option("Show the tokens and their log-probabilities.", _DECODING, "--scores")
    ] = False,
    alignment: Annotated[
        bool, _option("Show the source token of each, too.", _DECODING, "--alignment")
    ] = False,
    finish_at_deadline: Annotated[
        bool,
        _option("Show the best so far when --timeout nears.", _DECODING, "--finish-at-deadline"),
    ] = False,
    sample: Annotated[
        bool, _option("Draw by chance; so do all options here.", _SAMPLING, "--sample")
    ] = False,
    temperature: Annotated[float | None, _option("0.01 to 10; 1.", _SAMPLING)] = None,
    top_k: Annotated[
        int | None, _option("Only so many of the likeliest tokens, 1 to 1000; all.", _SAMPLING)
    ] = None,
    top_p: Annotated[
        float | None, _option("Only the likeliest tokens up to this sum, to 1; all.", _SAMPLING)
    ] = None,
    min_p: Annotated[
        float | None,
        _option("Only tokens this many times as likely as the likeliest, below 1.", _SAMPLING),
    ] = None,
    samples: Annotated[
        int | None, _option("Draw so many, 1 to 16, show the best; as --n-best.", _SAMPLING)
    ] = None,
    seed: Annotated[
        int | None, _option("Draw the same again; told where it is left out.", _SAMPLING)
    ] = None,
    term: Annotated[
        list[str] | None,
        _option("source=target or source=target|target: must be used; may be repeated.", _TERMS),
    ] = None,
    soft_term: Annotated[
        list[str] | None, _option("Likewise, should be used; may be repeated.", _TERMS)
    ] = None,
    term_bonus: Annotated[
        float | None, _option("How strongly soft terms are preferred, 0 to 10; 1.", _TERMS)
    ] = None,
) -> TranslateOptions:
    """Make the keywords of `Client.translate` that a command's options describe."""
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
            *_terms("--term", term or (), hard=True, bonus=None),
            *_terms("--soft-term", soft_term or (), hard=False, bonus=term_bonus),
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
