"""Prose and tables beside the code: a fault in one is named, an installed wolfbus has them all, and from a source
distribution the tests run.
"""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from wolfbus.errors import ConfigError

ROOT = Path(__file__).parent.parent
PACKAGES = ("wolfbus", "moderator", "players", "analytics")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[Villager]\nteam = ", "not TOML: Invalid value"),
        (b"[Villager]\nteam = '\xff'", "not TOML: 'utf-8' codec"),
        (b"[Villager]\ngoal = 3", "Villager.team: Field required"),
        (b"[Hunter]", "Hunter"),
        (None, "No such file or directory"),
    ],
)
def test_a_fault_in_the_file_of_roles_is_one_line_that_names_file_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "roles.toml").write_bytes(content)
    monkeypatch.setattr("wolfbus.files.package_data.folder_of", lambda _: tmp_path)
    with pytest.raises(ConfigError, match=f"^wolfbus/game/roles.toml: {message}") as caught:
        runpy.run_path(str(ROOT / "wolfbus" / "game" / "roles.py"))
    assert "\n" not in str(caught.value)


def test_scripted_players_have_words_for_everything_they_mean_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    words = (ROOT / "players/scripted/words.toml").read_text("utf-8")
    (tmp_path / "words.toml").write_text(re.sub("\nhedge = '''.*?'''", "", words, flags=re.DOTALL), "utf-8")
    for roles in ("roles.toml", "other_roles.toml"):
        shutil.copy(ROOT / "wolfbus/game" / roles, tmp_path)
    monkeypatch.setattr("wolfbus.files.package_data.folder_of", lambda _: tmp_path)
    with pytest.raises(ConfigError, match=r"^players/scripted/words\.toml: .*nothing is said for 'hedge'"):
        runpy.run_path(str(ROOT / "players/scripted/phrasing.py"))["words"]()


def test_an_installed_wolfbus_has_every_data_file():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    for package in PACKAGES:
        folder = ROOT / package
        packed = {path for pattern in declared[package] for path in folder.glob(pattern)}
        files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        assert {path for path in files if path.suffix != ".py"} == packed


def source_files() -> list[str]:
    """Return the paths of what git keeps; in a source distribution, of all that is there."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True)
        return listed.stdout.rstrip("\0").split("\0")
    ignored = {Path(line).name for line in (ROOT / ".gitignore").read_text("utf-8").split()}
    files = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(path) for path in files if not any(Path(part).match(each) for part in path.parts for each in ignored)]


def test_a_source_distribution_has_every_file_so_that_its_tests_run(tmp_path: Path):
    pytest.importorskip("setuptools", "77")
    sources = source_files()
    assert {"tests/conftest.py", "docs/models.md", "examples/agent.py", "CHANGELOG.md", "CITATION.cff"} <= {*sources}
    for name in sources:
        copy = tmp_path / "checkout" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    # what a report and its reader leave in a checkout
    for name in ("examples/ladder/run/records/.wolfbus/kept", "examples/.env"):
        path = tmp_path / "checkout" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("KEY=secret")
    build = "from setuptools.build_meta import build_sdist; build_sdist('..')"
    subprocess.run([sys.executable, "-c", build], cwd=tmp_path / "checkout", check=True, capture_output=True)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        names = {member.name.partition("/")[2]: member.mode for member in archive if member.isfile()}
    assert not {*sources} - {*names}
    assert not [name for name in names if ".wolfbus/" in name or name.endswith("/.env")]
    assert not {name for name in sources if (ROOT / name).stat().st_mode & 0o111 and not names[name] & 0o111}
