"""The suite itself: who may start it and how, what is left when a test fails, and what failures and skips are in CI."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.waiting import wait_until

ROOT = Path(__file__).parents[1]


def suite(*words: str, **more) -> subprocess.CompletedProcess[str]:
    """Run some tests in a pytest of their own, with the fixtures and hooks of all tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)


def a_file(folder: Path, test: str) -> tuple[str, ...]:
    """Write a file with tests, and return the words that run it."""
    (folder / "test_it.py").write_text(test)
    return ("-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-n", "0", str(folder / "test_it.py"))


def test_without_xdist_and_with_ctrl_c_ignored_by_who_starts_it_a_test_of_ctrl_c_passes():
    test = "tests/whole/test_endings.py::test_ctrl_c_ends_cleanly_keeps_the_record_and_exits_130"
    done = suite("-p", "no:xdist", test, preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_IGN))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


FAILING = """
import pathlib, subprocess, tempfile
def test_it(tmp_path):
    pathlib.Path(tempfile.mkdtemp(), "left").touch()
    process = subprocess.Popen(["sh", "-c", "{command}"], stdout=subprocess.PIPE, {options})
    print("leader", int(process.stdout.readline()), tmp_path, flush=True)
    raise ZeroDivisionError
def test_other(tmp_path): pass
"""


@pytest.mark.parametrize(
    ("command", "options"),
    [("echo $$; exec sleep 300", ""), ("echo $$; sleep 300 & sleep 300", "start_new_session=True")],
)
def test_a_test_that_fails_leaves_no_process_and_no_file_but_in_its_folder(tmp_path, command, options):
    words = a_file(tmp_path, FAILING.replace("{command}", command).replace("{options}", options))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = suite("-s", *words, env={**os.environ, "TMPDIR": str(temporary)})
    assert done.returncode == 1
    ((_, leader, kept),) = [line.split() for line in done.stdout.splitlines() if line.startswith("leader ")]

    def lives() -> bool:
        try:
            (os.killpg if options else os.kill)(int(leader), 0)
        except ProcessLookupError:
            return False
        return True

    wait_until(lambda: not lives())
    left = {path for path in temporary.rglob("*") if path.is_dir() and not path.is_symlink()}
    assert left == {Path(kept), *Path(kept).parents} - {temporary, *temporary.parents}


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


def in_ci(folder: Path, *words: str, ci: str = "true", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a project of their own by the rules of CI."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.in_ci", *words]
    of_ours = {"CI": ci, "CI_MAY_SKIP": "", "CI_SKIPPED": "", "PYTHONPATH": str(ROOT)}
    # to load whatever plugins are installed takes longer than all else here
    of_ours["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment = {**os.environ, **of_ours, **variables}
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


SET_UP_ONCE = """
import pathlib
import pytest
@pytest.fixture(scope="module")
def shared():
    first = not pathlib.Path("before").exists()
    pathlib.Path("before").touch()
    assert not first, "too soon"
@pytest.mark.parametrize("number", range(5))
def test_it(shared, number): assert number < {steady}
"""


@pytest.mark.parametrize(("steady", "code"), [(5, 0), (4, 1)])
def test_tests_whose_shared_fixture_failed_are_run_once_more_together_and_count_as_one(tmp_path, steady, code):
    (tmp_path / "test_it.py").write_text(SET_UP_ONCE.format(steady=steady))
    done = in_ci(tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert "once more, alone: test_it.py::test_it[0] and 4 that failed with it" in done.stdout
    assert done.stdout.count("UNSTEADY: test_it.py::test_it[") == (0 if code else 5)


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


@pytest.mark.parametrize(("ci", "may_skip", "code"), [("", "", 0), ("true", "", 1), ("true", "no browser:", 0)])
def test_a_skip_is_a_failure_in_ci_unless_its_reason_is_allowed(tmp_path, ci, may_skip, code):
    test = "import pytest\ndef test_it(): pytest.skip('no browser: get one')\ndef test_other(): pass\n"
    (tmp_path / "test_it.py").write_text(test)
    done = in_ci(tmp_path, ci=ci, CI_MAY_SKIP=may_skip, CI_SKIPPED=str(tmp_path / "skipped"))
    assert done.returncode == code, done.stdout + done.stderr
    assert "1 passed, 1 skipped" in done.stdout
    assert ("skipped, which in CI is a failure (1): no browser: get one" in done.stdout) == bool(code)
    if ci:
        assert (tmp_path / "skipped").read_text() == "test_it.py::test_it\n"


def test_a_skip_is_a_failure_beside_a_test_that_is_only_unsteady(tmp_path):
    test = FAILS_ONCE.format(tests=1, steady=1) + "def test_third(): pytest.skip('for no reason')\n"
    (tmp_path / "test_it.py").write_text(test)
    done = in_ci(tmp_path)
    assert done.returncode == 1
    assert "1 passed, 1 skipped, 1 unsteady" in done.stdout


WITHOUT_A_SERVER = """
import pytest
import wolfbus.service.redis
from wolfbus.testing.redis_server import RedisServer
wolfbus.service.redis._programs = lambda: iter(())
def test_in_setup(redis_url): pass
def test_in_call():
    with RedisServer(): pass
"""


def test_whatever_needs_a_server_is_skipped_where_none_is_installed(tmp_path):
    done = suite(*a_file(tmp_path, WITHOUT_A_SERVER), env={**os.environ, "CI": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 skipped" in done.stdout
    assert "SKIPPED [2]" in done.stdout or done.stdout.count("no Redis server that is") == 2
