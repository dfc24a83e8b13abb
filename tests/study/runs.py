"""Runs `wolfbus run` as a process of its own, and reads what it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WOLFBUS = [sys.executable, "-m", "wolfbus"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
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
    """Run it to its end, where told with a limit on files that stands for a disk without room."""
    words = [*WOLFBUS, "run", "--quiet", *map(str, arguments)]
    if largest_file is not None:
        words = [sys.executable, "-c", _LIMITED, str(largest_file), *words]
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=100,
        check=False,
    )


def begin(*arguments: str | Path) -> subprocess.Popen[str]:
    # a session of its own, so that a signal to it is not one to the tests
    return subprocess.Popen(
        [*WOLFBUS, "run", "--quiet", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def wait_for(what: Callable[[], bool], patience_s: float = 60) -> None:
    """Look again and again: another process's files tell nobody that they have grown."""
    until = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < until, "it did not happen"
        threading.Event().wait(0.005)


def journal_lines(folder: Path) -> int:
    path = folder / "journal.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def manifest(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "study.json").read_text())
    return loaded


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without what may differ between two runs of one study: times, and a commit made meanwhile."""
    told = {name: value for name, value in told.items() if name not in {"created", "updated", "git"}}
    told["games"] = [{name: value for name, value in game.items() if name != "seconds"} for game in told["games"]]
    return told


def children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == pid and words[0] != "Z":
            found.append(int(stat.parent.name))
    return found
