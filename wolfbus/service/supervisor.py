"""Keeping a set of processes going until those that lead it have ended, and telling on one terminal what they say.

Each runs in a process group of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import click

from wolfbus.printable import printable
from wolfbus.service.lifecycle import Stopping, drain

_LAUNCH: Final = str(Path(__file__).with_name("launch.py"))
_LINE_READ_AT_MOST: Final = 65_536
_LAST_OUTPUT_S: Final = 1.0

OutputLines: TypeAlias = "queue.SimpleQueue[tuple[str, str]]"
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
        is_leader: whether the run is over once this and every other leader has ended.
        is_base: whether the others rest on it: it is stopped last, and has nothing to finish.
        muted: whether its stdout is dropped: results that whoever runs it has from elsewhere.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_leader: bool = False
    is_base: bool = False
    muted: bool = False


class Child:
    """Runs one program, in a process group of its own; each start is a new process.

    On Linux the process is killed when the thread that started it ends, even by ``kill -9`` of the supervisor; so only
    a thread that lasts may start it. Elsewhere it plays on until its house closes.

    Args:
        program: what to run.
        lines: where its lines go, of stdout and stderr alike.

    Attributes:
        program: what it runs.
        starts: how often it was started.
    """

    def __init__(self, program: Program, lines: OutputLines) -> None:
        self.program = program
        self.starts = 0
        self._lines = lines
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a process, running or not yet collected by `poll`."""
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

    def poll(self) -> int | None:
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
            self._listener.join(_LAST_OUTPUT_S)
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
            self.poll()

    def _end_group(self) -> None:
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        pipe = process.stderr if self.program.muted else process.stdout
        if pipe is None:
            return
        with pipe as lines:
            while line := lines.readline(_LINE_READ_AT_MOST):
                self._lines.put((self.program.name, line.decode(errors="backslashreplace").rstrip("\r\n")))


OWN: Final = "up"
"""Name under which the supervisor itself speaks."""

PAUSES_S: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each restart of one process; after the last one it is given up."""

GRACE_S: Final = 12.0
"""Longest wait for processes that were asked to stop; a player plays on for 8 s."""

LINGER_S: Final = 15.0
"""Longest wait for the rest to leave by itself once the leaders have ended."""

USAGE: Final = 2
"""Exit code of a process that was started wrongly; another start would not help."""

_SLICE_S: Final = 0.1


@dataclass(slots=True)
class RunOutcome:
    """How a run went.

    Attributes:
        codes: last exit code by name, of all that have ended by themselves; below 0 for a signal.
        restarts: how often each was started again, where it was.
        reason: why the run was broken off, "" if it was not.
        interrupted: whether it was broken off because somebody asked.
    """

    codes: dict[str, int] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    interrupted: bool = False


class Supervisor:
    """Starts programs, tells what they say, starts again what dies, and stops them all.

    Args:
        programs: what to run, in the order of starting; stopped together, the base last.
        tell: called with (name, line) for every line, from the thread that runs.
        stopping: breaks the run off when somebody asks.
        finished: tells, when something has ended, whether that was to be: the work is done.
        pauses_s: seconds before each restart of one program.
        grace_s: seconds that a program has between being asked to stop and being killed.
        linger_s: seconds that the others have to leave by themselves after the leaders.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        tell: Callable[[str, str], None],
        stopping: Stopping,
        finished: Callable[[], bool],
        pauses_s: Sequence[float] = PAUSES_S,
        grace_s: float = GRACE_S,
        linger_s: float = LINGER_S,
    ) -> None:
        self._lines: OutputLines = queue.SimpleQueue()
        self._children = {program.name: Child(program, self._lines) for program in programs}
        self._tell = tell
        self._stopping = stopping
        self._finished = finished
        self._pauses_s = pauses_s
        self._grace_s = grace_s
        self._linger_s = linger_s
        self._due: dict[str, float] = {}
        self._outcome = RunOutcome()
        self._leaving = False

    def start(self, *names: str) -> None:
        """Start programs by name; by the thread that will call `run`, which must outlast them."""
        for name in names:
            self._children[name].start()

    def run(self) -> RunOutcome:
        """Start what does not run yet, and return once every leader has ended or the run was broken off.

        Nothing that was started runs any more when this returns or raises.

        Raises:
            KeyboardInterrupt: somebody did not want to wait; everything was killed.
        """
        try:
            self.start(*(name for name, child in self._children.items() if not child.running))
            while not self._is_over():
                self._step()
            self._leaving = True
            self._due.clear()
            if not self._outcome.reason:
                self._run_until(lambda: not self._still_running() or self._stopping.requested, self._linger_s)
                if late := self._still_running():
                    self._tell(OWN, f"{', '.join(late)} did not leave with the house and will be stopped")
            self._stop()
        finally:
            self.kill()
        return self._outcome

    def kill(self) -> None:
        """Kill whatever runs, at once; the base goes last."""
        for child in sorted(self._children.values(), key=lambda child: child.program.is_base):
            child.kill()
        self._forward_output()

    def _is_over(self) -> bool:
        if self._stopping.requested and not self._outcome.reason:
            self._break_off(
                "interrupted" if self._stopping.why == "SIGINT" else f"asked to stop ({self._stopping.why})"
            )
            self._outcome.interrupted = True
        return bool(self._outcome.reason) or all(
            name in self._outcome.codes for name, child in self._children.items() if child.program.is_leader
        )

    def _still_running(self) -> list[str]:
        """Return what still runs of that which should leave by itself."""
        return [name for name, child in self._children.items() if child.running and not child.program.is_base]

    def _step(self) -> None:
        """Forward output, handle exits, and start what is due, for a moment."""
        self._forward_output(_SLICE_S)
        for name, child in self._children.items():
            # While the base is away nobody can tell whether the work is done, and asking would delay its start.
            code = child.poll() if child.program.is_base or not self._base_is_down() else None
            if code is not None:
                self._forward_output()
                self._handle_exit(child, code)
            if name in self._due and time.monotonic() >= self._due[name]:
                del self._due[name]
                child.start()

    def _base_is_down(self) -> bool:
        return any(self._children[name].program.is_base for name in self._due)

    def _handle_exit(self, child: Child, code: int) -> None:
        name = child.program.name
        if self._leaving or self._stopping.requested or (not child.program.is_base and self._finished()):
            self._outcome.codes[name] = code
            return
        how = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        if code == USAGE:
            self._outcome.codes[name] = code
            self._break_off(f"{name} {how}: it cannot run like this")
        elif child.starts > len(self._pauses_s):
            self._outcome.codes[name] = code
            self._break_off(f"{name} {how}; it was started {child.starts} times and is given up")
        else:
            pause = self._pauses_s[child.starts - 1]
            self._outcome.restarts[name] = child.starts
            self._due[name] = time.monotonic() + pause
            self._tell(OWN, f"{name} {how}; starting it again in {pause:g} s")

    def _break_off(self, reason: str) -> None:
        if not self._outcome.reason:
            self._outcome.reason = reason
            self._tell(OWN, f"{reason}; stopping everything")

    def _stop(self) -> None:
        for child in self._children.values():
            if not child.program.is_base:
                child.ask_to_stop()
        self._run_until(lambda: not self._still_running(), self._grace_s)
        if late := self._still_running():
            self._tell(OWN, f"{', '.join(late)} did not stop in {self._grace_s:g} s and will be killed")

    def _run_until(self, done: Callable[[], bool], most_s: float) -> None:
        until = time.monotonic() + most_s
        while not done() and time.monotonic() < until:
            self._step()

    def _forward_output(self, wait_s: float = 0.0) -> None:
        """Forward the lines that have come, waiting for the first."""
        for name, line in drain(self._lines, wait_s):
            self._tell(name, line)


_WIDTH: Final = len("moderator")
_LINE_SHOWN_AT_MOST: Final = 4000
_COLOURS: Final = ("cyan", "magenta", "blue", "yellow", "green", "bright_cyan", "bright_magenta", "bright_blue")


class OutputPrinter:
    """Prints lines on stderr, each with the name of its process before it; in a terminal each name has a colour.

    Args:
        plain: print lines as they are, for programs, and what the supervisor says as JSON.
        quiet: print only what the supervisor itself says.
    """

    def __init__(self, *, plain: bool = False, quiet: bool = False) -> None:
        self._plain = plain
        self._quiet = quiet
        self._colours: dict[str, str] = {OWN: "white"}
        self._next = itertools.cycle(_COLOURS)

    def __call__(self, name: str, line: str) -> None:
        """Print a line of the process called `name`."""
        if self._quiet and name != OWN:
            return
        if self._plain:
            click.echo(json.dumps({"level": "info", "event": line, "service": OWN}) if name == OWN else line, err=True)
            return
        if name not in self._colours:
            self._colours[name] = next(self._next)
        click.echo(click.style(f"{name:{_WIDTH}} │ ", fg=self._colours[name]) + _sanitised(line), err=True)


def _sanitised(line: str) -> str:
    """Return a line without anything that a terminal would obey; a traceback's lines keep their indentation."""
    text = line.lstrip(" ")
    return " " * min(len(line) - len(text), 40) + printable(text, _LINE_SHOWN_AT_MOST)
