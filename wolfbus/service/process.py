"""Child processes in groups of their own: `Child` is one of a supervised house, and tells what it says."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

_LAUNCH: Final = str(Path(__file__).with_name("launch.py"))
_LINE_AT_MOST: Final = 65_536
_LAST_WORDS_S: Final = 1.0

Said: TypeAlias = "queue.SimpleQueue[tuple[str, str]]"
"""What children say, line by line: (name, line)."""


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a process and all that it started, as far as they are still there.

    Args:
        leader: the process's number; it leads a session of its own, so that Ctrl-C in the terminal is its parent's.
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


@dataclass(frozen=True, slots=True)
class Program:
    """A process to run.

    Attributes:
        name: stands before each of its lines; unique in its house.
        command: its words.
        environment: variables for it, beside ours.
        leads: whether the run is over once this and every other leader has ended.
        beneath: whether the others rest on it: it is stopped last, and has nothing to finish.
        muted: whether its stdout is dropped: results that whoever runs it has from elsewhere.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    leads: bool = False
    beneath: bool = False
    muted: bool = False


class Child:
    """Runs one program, in a process group of its own; each start is a new process.

    On Linux the process is killed when the thread that started it ends, even by ``kill -9`` of the supervisor; so only
    a thread that lasts may start it. Elsewhere it plays on until its house closes.

    Args:
        program: what to run.
        said: where its lines go, of stdout and stderr alike.

    Attributes:
        program: what it runs.
        starts: how often it was started.
    """

    def __init__(self, program: Program, said: Said) -> None:
        self.program = program
        self.starts = 0
        self._said = said
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a process, running or not yet buried by `ended`."""
        return self._process is not None

    def start(self) -> None:
        """Start the process; at most one runs at a time."""
        self.starts += 1
        muted = self.program.muted
        self._process = subprocess.Popen(  # noqa: S603 - the words of a program, and no shell
            [sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), *self.program.command],
            env={**os.environ, **self.program.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if muted else subprocess.PIPE,
            stderr=subprocess.PIPE if muted else subprocess.STDOUT,
            start_new_session=True,
        )
        self._listener = threading.Thread(
            target=self._listen, args=(self._process,), name=f"hear-{self.program.name}", daemon=True
        )
        self._listener.start()

    def ended(self) -> int | None:
        """Return the exit code, below 0 for a signal, once the process has ended; None while it runs, or ran never.

        The first call that finds it ended also ends what it left running, and waits for its last words.
        """
        if self._process is None:
            return None
        code = self._process.poll()
        if code is None:
            return None
        self._end_group()
        if self._listener is not None:
            self._listener.join(_LAST_WORDS_S)
        self._process = self._listener = None
        return code

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the process itself; what it started is its own to stop."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """End the process and all that it started, at once, and wait until they are gone."""
        if self._process is not None:
            self._end_group()
            self._process.wait()
            self.ended()

    def _end_group(self) -> None:
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        pipe = process.stderr if self.program.muted else process.stdout
        if pipe is None:
            return
        with pipe as lines:
            while line := lines.readline(_LINE_AT_MOST):
                self._said.put((self.program.name, line.decode(errors="backslashreplace").rstrip("\r\n")))
