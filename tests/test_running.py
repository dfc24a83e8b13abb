"""The suite itself: which variables of a shell reach a test, and what CI makes of a test that fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def suite(*words: str, **more) -> subprocess.CompletedProcess[str]:
    """Run some tests in a pytest of their own, with the fixtures and hooks of all tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)


def a_file(folder: Path, test: str) -> tuple[str, ...]:
    """Write a file with tests, and return the words that run it."""
    (folder / "test_it.py").write_text(test)
    return ("-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-n", "0", str(folder / "test_it.py"))


def test_what_a_shell_has_set_reaches_no_test(tmp_path):
    shell = {
        "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error", "VIRTUAL_ENV": "/nowhere",
        "COLUMNS": "20", "LINES": "3", "TERM": "dumb", "NO_COLOR": "1", "FORCE_COLOR": "1", "LC_ALL": "C", "LANG": "C",
        "TZ": "Asia/Tokyo", "WOLFBUS_PLAY_SEED": "3", "WOLFBUS_BUS": "redis://127.0.0.1:1", "REDIS_URL": "nonsense",
        "OPENAI_API_KEY": "k", "http_proxy": "http://127.0.0.1:1",
    }  # fmt: skip
    test = f"import os\ndef test_it(): assert {{n: os.environ[n] for n in {sorted(shell)} if n in os.environ}} == "
    words = a_file(tmp_path, test + "{'LANG': 'C.UTF-8'}\n")
    done = suite(*words, env={**os.environ, **shell, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stdout + done.stderr


FAILS_ONCE = """
import pathlib
import pytest
@pytest.mark.parametrize("number", range({tests}))
def test_it(number):
    before = pathlib.Path(f"{{__name__}}-{{number}}")
    first = not before.exists()
    before.touch()
    assert not first, "too soon"
    assert number < {steady}, "never"
def test_other(): pass
"""


def in_ci(folder: Path, *words: str, ci: str = "true") -> subprocess.CompletedProcess[str]:
    """Run the tests of a project of their own by the rules of CI."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.in_ci", "-p", "no:xdist", *words]
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("ci", "tests", "steady", "code", "unsteady"),
    [
        ("", 1, 1, 1, 0),
        ("true", 1, 1, 0, 1),
        ("true", 3, 3, 0, 3),
        ("true", 4, 4, 1, 0),
        ("true", 2, 1, 1, 1),
    ],
    ids=["not in CI", "one", "three", "four", "one of two"],
)
def test_a_test_that_passes_alone_is_told_as_unsteady_and_does_not_fail_ci(tmp_path, ci, tests, steady, code, unsteady):
    (tmp_path / "test_it.py").write_text(FAILS_ONCE.format(tests=tests, steady=steady))
    done = in_ci(tmp_path, ci=ci)
    assert done.returncode == code, done.stdout + done.stderr
    *_, last = done.stdout.splitlines()
    assert (f"{unsteady} unsteady" in last) == bool(unsteady)
    assert (f"{tests - unsteady} failed" in last) == (tests > unsteady)
    lines = [line for line in done.stdout.splitlines() if line.startswith("UNSTEADY: ")]
    assert lines == [f"UNSTEADY: test_it.py::test_it[{n}], AssertionError: too soon" for n in range(unsteady)]


def test_a_test_of_a_file_that_the_newest_commit_changed_has_failed_when_it_fails_once(tmp_path):
    def git(*words: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *names, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for name in ("test_new.py", "test_newer.py"):
        (tmp_path / name).write_text(FAILS_ONCE.format(tests=1, steady=1))
        git("add", name)
        git("commit", "-m", name)
    assert [in_ci(tmp_path, name).returncode for name in ("test_new.py", "test_newer.py")] == [0, 1]
