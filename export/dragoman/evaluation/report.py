"""The outcome as sections of plain text and tables: what is printed is what the card says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.evaluation.bars import OVERALL, Bars
from dragoman.evaluation.comparison import RESAMPLES, Comparison, Difference
from dragoman.evaluation.facts import certificate, data, described, training
from dragoman.evaluation.figures import Figures, Traits, signatures
from dragoman.evaluation.format import count, parts, percent, points, ratio, signed, survived
from dragoman.evaluation.rates import Rate
from dragoman.evaluation.results import Evaluation, Result
from dragoman.evaluation.section import Section, Table

_REFERENCES = "references"


@dataclass(frozen=True, slots=True)
class Report:
    """Sections in the order of reading.

    Attributes:
        title: the model's name for people.
        summary: the figures that matter most, in one line.
        sections: figures and facts.
        notes: how they were measured and what they leave open.
    """

    title: str
    summary: str
    sections: tuple[Section, ...]
    notes: tuple[Section, ...]


def report(
    evaluation: Evaluation, comparisons: tuple[Comparison, ...] = (), bars: Bars | None = None
) -> Report:
    """Tell all about an evaluation, how it compares, and whether bars are kept."""
    model = evaluation.model
    found = [_test(evaluation)]
    for result in evaluation.results:
        found += [_quality(evaluation, result), _survival(evaluation, result), _speed(result)]
    found += [_comparison(entry, bars or Bars()) for entry in comparisons]
    facts = (described(model), training(model), data(model), certificate(model))
    return Report(
        model.display_name,
        _summary(evaluation),
        (*facts[:3], *found, facts[3]),
        (_method(evaluation), _limits(evaluation)),
    )


def _summary(evaluation: Evaluation) -> str:
    model, result = evaluation.model, evaluation.results[0]
    figures = result.figures.overall
    return (
        f"Translates {model.source_language_code} to {model.target_language_code}: "
        f"BLEU {points(figures.bleu)}, chrF {points(figures.chrf)} on {count(figures.sentences)} "
        f"sentences of {evaluation.test.name} ({result.decoding})."
    )


def _test(evaluation: Evaluation) -> Section:
    test = evaluation.test
    rejected = parts(f"{reason} {count(number)}" for reason, number in test.rejected.items())
    lines = [f"{test.name}: {count(len(test))} sentences."]
    if rejected:
        lines.append(f"Lines left out: {rejected}.")
    lines += [f"{name} by sacrebleu: `{signature}`" for name, signature in signatures().items()]
    return Section("Test set", tuple(lines))


def _quality(evaluation: Evaluation, result: Result) -> Section:
    header = ("domain", "sentences", "BLEU", "chrF", "length", "copies", "loops", "empty")
    rows = [
        (
            name,
            count(figures.sentences),
            points(figures.bleu),
            points(figures.chrf),
            ratio(figures.length_ratio),
            *(percent(rate) for rate in _defects(figures.traits)),
        )
        for name, figures in _by_domain(result)
    ]
    references = evaluation.references()
    defects = (percent(rate) for rate in _defects(references))
    rows.append((_REFERENCES, count(len(evaluation.test)), "", "", "", *defects))
    told = (
        ("Translations cut at the limit of their tokens", result.cut),
        ("Sentences refused by the server, counted as empty translations", result.refused),
    )
    lines = [f"{text}: {count(number)}." for text, number in told if number]
    return Section(f"Quality, {result.decoding}", tuple(lines), Table(header, tuple(rows)))


def _survival(evaluation: Evaluation, result: Result) -> Section:
    header = ("domain", "placeholders", "numbers", "URLs and e-mail addresses")
    entries = [(name, figures.traits) for name, figures in _by_domain(result)]
    entries.append((_REFERENCES, evaluation.references()))
    rows = tuple(
        (name, *map(survived, (traits.placeholders, traits.numbers, traits.addresses)))
        for name, traits in entries
    )
    return Section(f"What survives, {result.decoding}", table=Table(header, rows))


def _speed(result: Result) -> Section:
    speed = result.speed
    rows = (
        ("sentences", count(speed.sentences)),
        ("source tokens", count(speed.source_tokens)),
        ("target tokens", count(speed.target_tokens)),
        ("wall time", f"{speed.seconds:.1f} s"),
        ("sentences per second", f"{speed.sentences / speed.seconds:.1f}"),
        ("target tokens per second", count(round(speed.target_tokens / speed.seconds))),
        ("requests at the same time", count(speed.requests)),
    )
    return Section(f"Speed, {result.decoding}", table=Table(("measure", "value"), rows))


def _comparison(comparison: Comparison, bars: Bars) -> Section:
    header = ("domain", "BLEU", "p", "chrF", "p", "copies", "loops", "empty", "changed texts")
    entries = [(OVERALL, comparison.overall), *comparison.domains.items()]
    lines = [
        f"What {comparison.decoding} gains over {comparison.model}, {comparison.baseline}: points "
        f"of BLEU and chrF, percentage points of the rates; p by paired bootstrap resampling, "
        f"{count(RESAMPLES)} samples.",
    ]
    if bars.is_set:
        verdict = "; ".join(bars.broken((comparison,))) or "kept"
        lines.append(f"{bars.told()}: {verdict}.")
    rows = tuple((name, *_gains(difference)) for name, difference in entries)
    return Section("Compared with the baseline", tuple(lines), Table(header, rows))


def _gains(difference: Difference) -> Iterator[str]:
    for gain, p_value in (
        (difference.bleu, difference.bleu_p),
        (difference.chrf, difference.chrf_p),
    ):
        yield signed(gain)
        yield "" if p_value is None else f"{p_value:.3f}"
    before, after = (_defects(figures.traits) for figures in (difference.before, difference.after))
    for old, new in zip(before, after, strict=True):
        yield signed(100 * ((new.value or 0.0) - (old.value or 0.0)))
    yield f"{count(difference.changed)} of {count(difference.after.sentences)}"


def _method(evaluation: Evaluation) -> Section:
    traits: dict[str, str] = {
        "length": "characters of the translations by characters of the references",
        "copies": "translations equal to their sources, of the sources that have letters",
        "loops": "translations in which one sequence of 1 to 8 words comes three times or more in "
        "direct succession, or one sequence of 1 to 8 letters of a word five times or more, and "
        "more often than anything of its sort in the source",
        "empty": "translations without anything but white space",
        "placeholders": "`%s`, `%1$d`, `%(id)s`, `%1`, `{name}`, `{{x}}`, `${VAR}`, `$VAR` and "
        "their like in the sources that the translations have too, each as often",
        "numbers": "the same for strings of digits outside of these, separators removed "
        "(1,000.5 is 1.000,5); a number spelt as a word counts as lost",
        "URLs and e-mail addresses": "the same, to the letter",
        "references": "the same measures taken of the references: how far they can be trusted",
    }
    lines = [f"{name}: {text}." for name, text in traits.items()]
    lines.append(f"test set: the SHA-256 of its pairs is `{evaluation.test.fingerprint}`.")
    return Section("How it is measured", tuple(lines), is_list=True)


def _limits(evaluation: Evaluation) -> Section:
    model, domains = evaluation.model, evaluation.test.rows_by_domain()
    like = f" (domains: {', '.join(domains)})" if domains else ""
    lines = (
        f"A line may have {count(model.max_source_token_count)} tokens, its translation "
        f"{count(model.max_target_token_count)}; longer lines are refused, longer translations "
        "are cut and marked so.",
        "Each line is translated on its own, without the lines around it.",
        f"The figures hold for texts like those of the test set{like}; no others were measured.",
        "They compare with one reference for each sentence; nobody has judged the translations.",
    )
    return Section("Limits", lines, is_list=True)


def _by_domain(result: Result) -> list[tuple[str, Figures]]:
    return [(OVERALL, result.figures.overall), *result.figures.domains.items()]


def _defects(traits: Traits) -> tuple[Rate, Rate, Rate]:
    return traits.copies, traits.loops, traits.empties
