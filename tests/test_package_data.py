"""Prose and tables beside the code: a fault in one is named, and an installed wolfbus has them all."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from players.scripted.phrasing import Intent, Wordings
from wolfbus.errors import ConfigError
from wolfbus.package_data import Lines, PackageData, Prose, read_data

ROOT = Path(__file__).parent.parent
PACKAGES = ("wolfbus", "moderator", "players", "analytics")


class Shape(PackageData):
    text: Prose
    sentences: Mapping[str, Lines] = {}
    count: int = 0


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the data file of a package that there was not before, and return the package's name."""
    folder = tmp_path / "some_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(content: str | bytes) -> str:
        path = folder / "facts.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder.name

    yield write
    sys.modules.pop(folder.name, None)


def test_a_paragraph_is_folded_and_lines_are_kept_apart(package):
    found = read_data(package('text = """\nOn two\nlines.\n"""\n[sentences]\nd = """\nOne.\nTwo.\n"""'), "facts", Shape)
    assert found.text == "On two lines."
    assert found.sentences == {"d": ("One.", "Two.")}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('text = "a"\ncount = "many"', ["some_package/facts.toml", "count", "integer"]),
        ('text = "a"\ncuont = 3', ["some_package/facts.toml", "cuont"]),
        ("count = 3", ["some_package/facts.toml", "text", "required"]),
        ('text = "a"\n[sentences]\nd = 3', ["some_package/facts.toml", "sentences.d"]),
        ("text = ", ["some_package/facts.toml", "not TOML"]),
        (b"text = '\xff'", ["some_package/facts.toml", "not TOML"]),
    ],
)
def test_a_fault_is_one_line_that_names_file_and_key(package, content, words):
    name = package(content)
    with pytest.raises(ConfigError) as told:
        read_data(name, "facts", Shape)
    assert "\n" not in str(told.value)
    for word in words:
        assert word in str(told.value)


def test_a_file_that_is_missing_is_named(package):
    with pytest.raises(ConfigError, match=r"some_package/fiction\.toml"):
        read_data(package(""), "fiction", Shape)


def test_scripted_players_have_words_for_everything_they_mean_to_say():
    some = {intent: "A sentence." for intent in get_args(Intent) if intent != "hedge"}
    with pytest.raises(ValueError, match="nothing is said for 'hedge'"):
        Wordings.model_validate({"sentences": some, "evidence": {}, "vote_reasons": {}, "whispers": {}})


def test_an_installed_wolfbus_has_every_data_file():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    for package in PACKAGES:
        folder = ROOT / package
        packed = {path for pattern in declared[package] for path in folder.glob(pattern)}
        files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        assert {path for path in files if path.suffix != ".py"} == packed
