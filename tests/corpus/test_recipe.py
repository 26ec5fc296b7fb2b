"""Recipes, and finding packages for a language without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.apt import Record
from dragoman.corpus.discover import group, read_contents
from dragoman.corpus.errors import RecipeError
from dragoman.corpus.locales import Locale
from dragoman.corpus.recipe import RECIPES, Recipe, committed_recipe, load_recipe

NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9.+-]{1,12}", fullmatch=True), max_size=9, unique=True)
GROUPS = st.dictionaries(st.sampled_from(["man", "ui", "game"]), NAMES.map(tuple), min_size=1)
CONTENTS = """\
usr/share/locale/de/LC_MESSAGES/a.mo     utils/hello
usr/share/locale/de/LC_MESSAGES/b.mo     utils/hello
usr/share/locale/de/LC_MESSAGES/c.mo     utils/bye,games/chess
usr/share/locale/fr/LC_MESSAGES/c.mo     utils/french
usr/share/man/de/man1/ls.1.gz            doc/manpages-de
usr/share/man/man1/ls.1.gz               utils/coreutils
usr/share/man/de/man1/lost.1.gz          doc/lost
usr/share/help/C/a/with space.page       gnome/a-common
usr/share/help/de/a/with space.page      gnome/a-common
usr/share/locale/de/LC_MESSAGES/gone.mo  utils/gone
"""


def record(name: str, section: str = "utils", size: int = 1000, asks: bool = False) -> Record:
    return Record(name, name, section, size, asks)


RECORDS = {
    r.package: r
    for r in (
        record("hello"),
        record("bye", asks=True, size=3000),
        record("chess", "games"),
        record("french"),
        record("manpages-de"),
        record("coreutils", asks=True, size=2000),
        record("lost"),
        record("a-common"),
        record("huge", asks=True, size=90_000_000),
    )
}


def test_packages_are_found_by_the_files_they_hold() -> None:
    lines = CONTENTS.splitlines(keepends=True)
    assert group(lambda: read_contents(lines), RECORDS, Locale("de")) == {
        "man": ("manpages-de", "coreutils"),
        "ui": ("hello", "bye"),
        "help": ("a-common",),
        "game": ("chess",),
        "debconf": ("coreutils", "bye"),
    }
    known = ("bye", "hello", "absent")
    found = group(lambda: read_contents(lines), RECORDS, Locale("de"), known)
    assert found["debconf"] == ("bye", "coreutils")


@given(GROUPS)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, groups: dict[str, tuple[str, ...]]
) -> None:
    recipe = Recipe(Locale("en"), Locale("pt-BR"), groups)
    path = tmp_path_factory.mktemp("recipe") / "r.toml"
    path.write_text(recipe.toml(), encoding="utf-8")
    assert load_recipe(path, "en-pt-BR") == recipe
    assert max(map(len, recipe.toml().splitlines())) <= 100


@given(GROUPS, st.integers(1, 30))
def test_a_sample_takes_turns(groups: dict[str, tuple[str, ...]], count: int) -> None:
    recipe = Recipe(Locale("en"), Locale("de"), groups)
    sample = recipe.sample(count)
    assert sample.names() == recipe.names()[:count]
    assert sample.packages.keys() == groups.keys()
    assert set(recipe.names()) == {name for names in groups.values() for name in names}


def test_turns() -> None:
    recipe = Recipe(Locale("en"), Locale("de"), {"man": ("a", "b", "c"), "ui": ("x", "a", "y")})
    assert recipe.names() == ("a", "x", "b", "c", "y")
    assert recipe.sample(3).packages == {"man": ("a", "b"), "ui": ("x", "a")}
    assert recipe.name == "en-de"
    with pytest.raises(RecipeError, match="sample: 0"):
        recipe.sample(0)


def test_a_plain_list(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# mine\nhello\n\n  bye # too\n")
    assert load_recipe(path, "en-de").packages == {"listed": ("hello", "bye")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = ", "not TOML"),
        ("", "language_code"),
        ('source_language_code = "en"\ntarget_language_code = "fr"', "language_code"),
        ('source_language_code = "en"\ntarget_language_code = "de"', r"\[packages\]"),
        (
            'source_language_code = "en"\ntarget_language_code = "de"\n[packages]\nui = "a"',
            r"packages\.ui",
        ),
        (
            'source_language_code = "en"\ntarget_language_code = "de"\n[packages]\nui = [1]',
            r"packages\.ui",
        ),
    ],
)
def test_other_files_are_refused_by_name(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=rf"bad\.toml: .*{reason}"):
        load_recipe(path, "en-de")


def test_the_committed_recipes_are_good() -> None:
    paths = sorted(RECIPES.glob("*.toml"))
    assert [path.stem for path in paths] == ["en-de"]
    recipe = committed_recipe("en-de")
    assert recipe is not None
    assert list(recipe.packages) == ["man", "ui", "help", "game", "debconf"]
    assert len(recipe.names()) > 2000
    assert committed_recipe("en-fr") is None
