"""Processes that this one starts, and how they end: with all that they have started in their turn."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_LAUNCH: Final = str(Path(__file__).with_name("launch.py"))


def bound(words: Sequence[str]) -> list[str]:
    """Return the words of a program that, on Linux, is killed when the thread that starts it ends, or its process."""
    return [sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), *words]


def module_words(module: str, *words: str) -> list[str]:
    """Return the words that run a module of ours in a process of its own.

    Python would look for all that it imports in the current folder first, which may have been handed over by somebody
    else. It does so only where this process does, too.
    """
    looks_here = sys.path[:1] in ([""], [str(Path.cwd())])
    return [sys.executable, *([] if looks_here else ["-P"]), "-m", module, *words]


def start_child(words: Sequence[str], **settings: Any) -> subprocess.Popen[Any]:
    """Start a program, without a shell, in a session of its own.

    So Ctrl-C reaches whoever started it and not the child, whose end is left to its parent; and a signal to its group
    reaches all that it started.

    Args:
        words: the program and its arguments.
        settings: as `subprocess.Popen` takes them; nothing stands on its standard input unless they say so.

    Raises:
        OSError: it cannot be started.
    """
    return subprocess.Popen(words, start_new_session=True, **{"stdin": subprocess.DEVNULL, **settings})  # noqa: S603


def end_child(process: subprocess.Popen[Any], *, by_itself_s: float = 0.0, asked_s: float = 0.0) -> None:
    """Wait for a process to end, then ask it to, then kill it; whatever is left of its group is killed with it.

    Args:
        process: what `start_child` returned.
        by_itself_s: see `let_end`.
        asked_s: see there.
    """
    let_end(process, by_itself_s=by_itself_s, asked_s=asked_s)
    signal_group(process.pid, signal.SIGKILL)
    process.wait()


def let_end(process: subprocess.Popen[Any], *, by_itself_s: float, asked_s: float) -> None:
    """Wait for a process to end, and ask it to; it may still run then.

    Args:
        process: what `start_child` returned.
        by_itself_s: seconds in which it may end by itself.
        asked_s: seconds in which it may end after SIGTERM to its group; 0 does not ask.
    """
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(by_itself_s)
    if asked_s and process.poll() is None:
        signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(asked_s)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a process and all that it started, as far as they are still there.

    Args:
        leader: the process's number; it leads a session of its own.
        number: the signal.
    """
    # no such group: nothing is left of it
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def signal_name(number: int) -> str:
    """Return the name of a signal by which a process ended, such as ``SIGKILL``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
