"""Prose and tables beside the code: a fault in one is named, and an installed wolfbus has them all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from players.scripted.phrasing import Intent, Wordings

ROOT = Path(__file__).parent.parent
PACKAGES = ("wolfbus", "moderator", "players", "analytics")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wolfbus beside this one, whose data files may be changed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "wolfbus", folder / "wolfbus", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[Villager]\nteam = ", "not TOML: Invalid value"),
        ("[Villager]\ngoal = 3", "Villager.team: Field required"),
        ("[Hunter]", "Hunter"),
        (None, "No such file or directory"),
    ],
)
def test_a_fault_in_a_data_file_is_one_line_that_names_file_and_key(copy: Path, content: str | None, said: str) -> None:
    path = copy / "wolfbus" / "roles.toml"
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_text(content)
    told = subprocess.run(
        [sys.executable, "-m", "wolfbus", "rules"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert told.stderr.startswith(f"wolfbus: wolfbus/roles.toml: {said}")


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
