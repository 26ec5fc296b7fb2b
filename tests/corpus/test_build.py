"""From a folder of packages to a corpus, through the command."""

from __future__ import annotations

import csv
import json
import lzma
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dragoman.corpus.build import STAGES, build
from dragoman.corpus.cli import app
from dragoman.corpus.errors import CorpusError, RecipeError
from dragoman.corpus.locales import Locale
from dragoman.corpus.pair import DOMAINS, Ledger
from dragoman.corpus.recipe import Recipe
from dragoman.corpus.supply import FolderSupply
from dragoman.training.corpus import read_pairs
from tests.corpus.packages import messages, write_deb, zipped

NOUNS = {"file": "Datei", "door": "Tür", "window": "Scheibe", "list": "Liste", "page": "Seite",
         "lamp": "Lampe", "map": "Karte", "bridge": "Brücke"}  # fmt: skip
VERBS = {"open": "öffnen", "close": "schließen", "clean": "putzen", "find": "finden",
         "paint": "malen", "show": "zeigen", "hide": "verbergen"}  # fmt: skip
RECIPE = Recipe(Locale("en"), Locale("de"), {})
COPYRIGHT = (
    b"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
    b"Files: *\nLicense: GPL-2+\n"
)


def sentences(stem: str) -> dict[str, str]:
    """Sentences that share no six words with those of another stem."""
    return {
        f"You can {verb} the {stem}ish {noun} with your own {stem}y hands now.": f"Sie können die "
        f"{stem}ige {substantive} jetzt mit den eigenen {stem}lichen Händen {infinitive}."
        for verb, infinitive in VERBS.items()
        for noun, substantive in NOUNS.items()
    }


def page(heading: str, texts: list[str]) -> bytes:
    body = "".join(f".PP\n{text}\n" for text in texts)
    return zipped(f".TH X 1\n.SH {heading}\n{body}")


def write_packages(folder: Path) -> Path:
    """Write packages with every source of texts."""
    folder.mkdir()
    for number in range(30):
        name = f"tool{number}"
        texts = sentences(f"{chr(97 + number % 26)}{'xyz'[number // 26]}")
        write_deb(
            folder,
            name,
            {
                f"usr/share/locale/de/LC_MESSAGES/{name}.mo": messages(
                    {**texts, "_Open": "_Öffnen", "%s and %d of it": "%s davon", name: name}
                ),
                f"usr/share/doc/{name}/copyright": COPYRIGHT,
            },
            section="games" if number % 2 else "utils",
        )
    english, german = zip(*sentences("manual").items(), strict=True)
    write_deb(
        folder,
        "pages",
        {"usr/share/man/man1/x.1.gz": page("NAME", list(english))},
        links={"usr/share/doc/pages": "elsewhere"},
    )
    write_deb(
        folder,
        "pages-de",
        {"usr/share/man/de/man1/x.1.gz": page("NAME", list(german))},
        links={"usr/share/doc/pages-de": "tool1"},
        templates="Template: a\nType: note\nDescription: Read it\nDescription-de.UTF-8: Lies es\n",
    )
    (folder / "broken_1_all.deb").write_bytes(b"no package")
    index = "Package: tool1\nDescription-md5: 1\nDescription-{}: {}\n"
    (folder / "Translation-en").write_text(index.format("en", "a tool for the house"))
    packed = lzma.compress(index.format("de", "ein Werkzeug für das Haus").encode())
    (folder / "x_i18n_Translation-de.xz").write_bytes(packed)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_packages(tmp_path_factory.mktemp("packages") / "debs")


@pytest.fixture(scope="module")
def built(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The corpus and what the command printed."""
    output = tmp_path_factory.mktemp("corpus") / "en-de"
    arguments = ["build", "en-de", "--debs", str(folder), "--output", str(output)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return output, result.stdout


def rows(path: Path) -> list[tuple[str, str, str]]:
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(source, target, label) for source, target, label in lines]


def test_the_parts(built: tuple[Path, str]) -> None:
    output, _ = built
    train, dev, test = (rows(output / f"{part}.tsv") for part in ("train", "dev", "test"))
    assert ("Open", "Öffnen", "games") in train or ("Open", "Öffnen", "gettext") in train
    assert ("Read it", "Lies es", "debconf") in train
    assert ("a tool for the house", "ein Werkzeug für das Haus", "descriptions") in train
    assert {label for *_, label in train} == {"gettext", "games", "man", "descriptions", "debconf"}
    assert test
    assert dev
    for *_, label in [*dev, *test]:
        domain, origin, document = label.split("|")
        assert DOMAINS[origin] == domain
        assert document.startswith("tool")
    documents = [{label for *_, label in part} for part in (dev, test)]
    assert not documents[0] & documents[1]
    sources = [{source for source, *_ in part} for part in (train, dev, test)]
    assert not sources[0] & sources[1] | sources[0] & sources[2] | sources[1] & sources[2]


def test_training_reads_it(built: tuple[Path, str]) -> None:
    rejected: Counter[str] = Counter()
    pairs = list(read_pairs((str(built[0] / "train.tsv"),), rejected))
    assert len(pairs) == len(rows(built[0] / "train.tsv"))
    assert not rejected


def test_the_manifest(built: tuple[Path, str]) -> None:
    with (built[0] / "ORIGINS.tsv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    by_key = {(row["origin"], row["package"]): row for row in table}
    assert by_key["descriptions", "Translation-de"] == {
        "name": "descriptions: Translation-de",
        "license": "as the packages described",
        "sentence_pair_count": "1",
        "origin": "descriptions",
        "package": "Translation-de",
        "version": "",
    }
    assert by_key["debconf", "pages-de"]["license"] == "GPL-2+"
    assert by_key["debconf", "pages-de"]["name"] == "debconf: pages-de 1.0-1"
    assert by_key["man", "pages"]["license"] == "see copyright file of elsewhere"
    counts = {key: int(row["sentence_pair_count"]) for key, row in by_key.items()}
    assert counts["man", "pages-de"] == counts.pop(("man", "pages")) == 56
    pairs = sum(len(rows(built[0] / f"{part}.tsv")) for part in ("train", "dev", "test"))
    assert sum(counts.values()) == pairs


def test_the_counts(built: tuple[Path, str]) -> None:
    output, printed = built
    facts = json.loads((output / "corpus.json").read_text(encoding="utf-8"))
    counts = {stage: sum(by.values()) for stage, by in facts["counts"].items()}
    assert list(counts) == list(STAGES)
    between = list(counts)[list(counts).index("sentences") + 1 : list(counts).index("kept")]
    assert counts["sentences"] - sum(counts[stage] for stage in between) == counts["kept"]
    after = list(counts)[list(counts).index("kept") + 1 :]
    assert counts["kept"] == sum(counts[stage] for stage in after)
    assert counts["placeholders differ"] == 30
    assert counts["doublet"] == 29
    assert facts["notes"]["packages read"] == 32
    assert facts["notes"]["packages not readable"] == 1
    assert (facts["source_language_code"], facts["target_language_code"]) == ("en", "de")
    table = printed.splitlines()
    assert table[0].split() == [*DOMAINS, "all"]
    assert any(line.split()[:2] == ["placeholders", "differ"] for line in table)
    assert "man pages aligned: 1" in table


def test_the_same_packages_give_the_same_bytes(
    folder: Path, built: tuple[Path, str], tmp_path: Path
) -> None:
    """In another process too, where Python hashes strings otherwise."""
    program = "from dragoman.corpus.cli import app; app()"
    arguments = ["build", "en-de", "--debs", str(folder), "--output", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    for path in built[0].iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_a_sample_of_a_folder(folder: Path, tmp_path: Path) -> None:
    corpus = build(RECIPE, FolderSupply(folder, RECIPE.target, 2), tmp_path, lambda _: None)
    assert corpus.notes["packages read"] + corpus.notes["packages not readable"] == 2


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "debs").mkdir()
    with pytest.raises(RecipeError, match=r"debs: no \.deb file"):
        FolderSupply(tmp_path / "debs", RECIPE.target)
    write_deb(tmp_path / "debs", "empty", {})
    supply = FolderSupply(tmp_path / "debs", RECIPE.target)
    with pytest.raises(CorpusError, match="no pair is left"):
        build(RECIPE, supply, tmp_path / "out", lambda _: None)


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "de-en"],
        ["build", "en-de", "--debs", "/nonexistent"],
        ["build", "en-de", "--packages", "/nonexistent.toml"],
        ["packages", "english-german"],
    ],
)
def test_errors_are_one_line(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("dragoman corpus: ")
    assert len(result.stderr.splitlines()) == 1


def test_the_ledger_is_a_table() -> None:
    ledger = Ledger()
    ledger.enter("found", "man", 1200)
    ledger.enter("kept", "gettext")
    header, found, kept = ledger.table().splitlines()
    assert header.split()[-1] == "all"
    assert found.split() == ["found", "0", "0", "0", "0", "1,200", "0", "1,200"]
    assert kept.split() == ["kept", "0", "0", "1", "0", "0", "0", "1"]
    assert ledger.counts() == {"found": {"man": 1200}, "kept": {"gettext": 1}}


def test_it_is_light() -> None:
    program = (
        "import sys, dragoman.corpus.cli; print('torch' in sys.modules, 'numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert result.stdout.split() == [b"False", b"False"]
