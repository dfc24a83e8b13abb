"""Runs `wolfbus run` as a process of its own, and reads what it leaves."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.study.brains import GATE
from wolfbus import cli

WOLFBUS = [sys.executable, "-m", "wolfbus"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
STUDY = 'games = 16\nseed = 11\nplayers = "scripted*4,tests.study.brains:Gated*4"\nat_once = 4'
"""A study that can be held up in its middle."""
SHORT = "[rules]\ndebate_turns = 2\nmax_rounds = 2\n"
"""Rules of games that are over soon."""


_LIMITED = """
import os, resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.argv[2], sys.argv[2:])
"""


def study_file(folder: Path, text: str = "") -> Path:
    path = folder / "study.toml"
    path.write_text(f"{text}\n{SHORT}")
    return path


def run(*arguments: str | Path, largest_file: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end, if asked with a limit on files that stands for a disk without room."""
    words = [*WOLFBUS, "run", "--quiet", *map(str, arguments)]
    environment = ENVIRONMENT
    if largest_file is not None:
        words = [sys.executable, "-c", _LIMITED, str(largest_file), *words]
        # bytecode that is cut short would be found by whoever imports that module next
        environment = {**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        env=environment,
        timeout=100,
        check=False,
    )


def run_here(*arguments: str | Path, code: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run it in this process, which is quicker: for what neither workers nor signals are part of.

    Args:
        arguments: of `wolfbus run`.
        code: the exit code that it has to end with; None for any.
    """
    words = ["run", "--quiet", *map(str, arguments)]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
        ended = cli.run(words)
    assert code in {None, ended}, out.getvalue() + error.getvalue()
    return subprocess.CompletedProcess(words, ended, out.getvalue(), error.getvalue())


def seen_in_a_terminal(words: Iterable[str | Path], *, columns: int = 100, keys: bytes = b"") -> tuple[int, str]:
    """Run it in this process, in a terminal where some keys are typed; return its code, and all that was shown, without
    colours.
    """
    terminal, other_end = pty.openpty()
    parts: list[bytes] = []

    def look() -> None:
        with suppress(OSError):
            while part := os.read(terminal, 65536):
                parts.append(part)

    watcher = threading.Thread(target=look)
    watcher.start()
    with (
        os.fdopen(os.dup(other_end)) as typed,
        os.fdopen(other_end, "w") as screen,
        redirect_stderr(screen),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in (("TERM", "xterm"), ("COLUMNS", str(columns))):
            patch.setenv(name, value)
        patch.setattr("sys.stdin", typed)
        os.write(terminal, keys)
        code = cli.run(["run", *map(str, words)])
    watcher.join()
    os.close(terminal)
    return code, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", b"".join(parts).decode())


@contextmanager
def meanwhile(happens: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread; what fails there fails here."""
    failures: list[BaseException] = []

    def happen() -> None:
        try:
            happens()
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=happen)
    thread.start()
    yield
    thread.join()
    assert failures == []


def run_here_while(happens: Callable[[], None], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it in this process, while something happens to others."""
    with meanwhile(happens):
        return run_here(*arguments)


def begin(
    *arguments: str | Path, gate: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Begin a run; see `tests.study.brains` for the gate."""
    # a session of its own, so that a signal to it is not one to the tests; and Ctrl-C ends it even where the tests run
    # in the background, for which a shell has it ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [*WOLFBUS, "run", "--quiet", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**ENVIRONMENT, **(environment or {}), **({} if gate is None else {GATE: str(gate)})},
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def journal_lines(folder: Path) -> int:
    path = folder / "journal.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def journal(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def manifest(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "study.json").read_text())
    return loaded


def without_times(loaded: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without what may differ between two runs of one study: times, a commit made meanwhile or a
    file that was edited, and hashes over records, in which times stand.
    """
    differing = {"created", "updated", "git", "continued_with", "study_hash"}
    loaded = {name: value for name, value in loaded.items() if name not in differing}
    loaded["games"] = [
        {name: value for name, value in game.items() if name not in {"seconds", "head"}} for game in loaded["games"]
    ]
    return loaded


def assert_like(whole: Path, out: Path) -> None:
    """Two folders hold the same study, whatever happened to one of them."""
    assert without_times(manifest(out)) == without_times(manifest(whole))
    records = {path.name for path in (whole / "records").iterdir()}
    assert {path.name for path in (out / "records").iterdir()} == records


def workers_of(pid: int, word: bytes = b"worker") -> list[int]:
    """Return the processes that a run has started to play, or those with another word in their command line."""
    workers = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == pid and words[0] != "Z" and word in (stat.parent / "cmdline").read_bytes():
            workers.append(int(stat.parent.name))
    return workers
