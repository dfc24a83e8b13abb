"""Running a set of processes until those that lead it have ended, and telling on one terminal what they say.

Each runs in a process group of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import click

from wolfbus.files.printable import printable
from wolfbus.service.child import bound, end_child, signal_name, start_child
from wolfbus.service.lifecycle import Stopping, drain

_LINE_READ_AT_MOST: Final = 65_536
_LAST_OUTPUT_S: Final = 1.0

OutputLines: TypeAlias = "queue.Queue[tuple[str, str]]"
"""What children say, line by line: (name, line)."""


@dataclass(frozen=True, slots=True)
class Program:
    """A process to run.

    Attributes:
        name: stands before each of its lines; unique in its house.
        command: its words.
        environment: variables for it, beside ours.
        is_leader: whether the run is over once this and every other leader has ended. Its exit code 1 is a result,
            such as a game that failed; the rest leaves by itself then.
        muted: whether its stdout is dropped: results that whoever runs it has from elsewhere.
        is_last: whether this leader has its results when the others are through: where it failed before that, they
            would wait for it for ever.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_leader: bool = False
    muted: bool = False
    is_last: bool = False


class Child:
    """Runs one program, in a process group of its own.

    On Linux the process is killed when the thread that started it ends, even by ``kill -9`` of the supervisor; so only
    a thread that lasts may start it. Elsewhere it plays on until its house closes.

    Args:
        program: what to run.
        lines: where its lines go, of stdout and stderr alike.

    Attributes:
        program: what it runs.
    """

    def __init__(self, program: Program, lines: OutputLines) -> None:
        self.program = program
        self._lines = lines
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a process, running or not yet collected by `poll`."""
        return self._process is not None

    def start(self) -> None:
        """Start the process."""
        muted = self.program.muted
        self._process = start_child(
            bound(self.program.command),
            env={**os.environ, **self.program.environment},
            stdout=subprocess.DEVNULL if muted else subprocess.PIPE,
            stderr=subprocess.PIPE if muted else subprocess.STDOUT,
        )
        self._listener = threading.Thread(
            target=self._listen, args=(self._process,), name=f"hear-{self.program.name}", daemon=True
        )
        self._listener.start()

    def poll(self) -> int | None:
        """Return the exit code, below 0 for a signal, once the process has ended; None while it runs, or ran never.

        The first call that finds it ended also ends what it left running, and waits for its last words.
        """
        if self._process is None or (code := self._process.poll()) is None:
            return None
        end_child(self._process)
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
            end_child(self._process)
            self.poll()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        pipe = process.stderr if self.program.muted else process.stdout
        if pipe is None:
            return
        with pipe as lines:
            while line := lines.readline(_LINE_READ_AT_MOST):
                self._lines.put((self.program.name, line.decode(errors="backslashreplace").rstrip("\r\n")))


OWN: Final = "up"
"""Name under which the supervisor itself speaks."""

GRACE_S: Final = 12.0
"""Longest wait for processes that were asked to stop; a player plays on for 8 s."""

LINGER_S: Final = 30.0
"""Longest wait for the rest to leave by itself once the leaders have ended, or one of the others has failed: more than
the 20 s after which a moderator closes a house whose players are gone."""

USAGE: Final = 2
"""Exit code of a process that was started wrongly."""

_SLICE_S: Final = 0.1


@dataclass(slots=True)
class RunOutcome:
    """How a run went.

    Attributes:
        codes: exit code by name; below 0 for a signal.
        reason: why the run was broken off, "" if it was not.
        interrupted: whether it was broken off because somebody asked.
    """

    codes: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    interrupted: bool = False


class Supervisor:
    """Starts programs, tells what they say, and stops them all once the first has failed.

    Args:
        programs: what to run, in the order of starting.
        tell: called with (name, line) for every line, from the thread that runs.
        stopping: breaks the run off when somebody asks.
        grace_s: seconds that a program has between being asked to stop and being killed.
        linger_s: seconds that the others have to leave by themselves once the run is over.
        lacking: returns what all of them need and is gone, why in one line; None while it is there.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        tell: Callable[[str, str], None],
        stopping: Stopping,
        grace_s: float = GRACE_S,
        linger_s: float = LINGER_S,
        lacking: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._lines: OutputLines = queue.Queue()
        self._children = {program.name: Child(program, self._lines) for program in programs}
        self._tell = tell
        self._stopping = stopping
        self._grace_s = grace_s
        self._linger_s = linger_s
        self._lacking = lacking
        self._outcome = RunOutcome()
        # the last error line of each program, without its "wolfbus: "
        self._errors: dict[str, str] = {}
        self._at_once = False
        self._leaving = False
        # why the run is broken off, and when, unless all leaders have ended by then
        self._due: tuple[str, float] | None = None

    def run(self) -> RunOutcome:
        """Start everything, and return once the run is over, and nothing of it runs any more.

        It is over once every leader has ended, once another program has failed, or the last leader before its time,
        once something is gone that all of them need, or once somebody asks.

        Raises:
            KeyboardInterrupt: somebody did not want to wait; everything was killed.
        """
        try:
            for child in self._children.values():
                child.start()
            while not self._is_over():
                self._step()
            self._leaving = True
            if not self._at_once:
                self._run_until(lambda: not self._still_running() or self._stopping.requested, self._linger_s)
                if late := self._still_running():
                    self._tell(OWN, f"{', '.join(late)} did not leave with the house and will be stopped")
            self._stop()
        finally:
            self.kill()
        return self._outcome

    def kill(self) -> None:
        """Kill whatever runs, at once."""
        for child in self._children.values():
            child.kill()
        self._forward_output()

    def _is_over(self) -> bool:
        if self._stopping.requested and not self._outcome.reason:
            self._outcome.interrupted = self._at_once = True
            why = self._stopping.why
            self._break_off("interrupted" if why == "SIGINT" else f"asked to stop ({why})", "stopping everything")
        if not self._outcome.reason and (lack := self._lacking()) is not None:
            self._at_once = True
            self._break_off(lack, "stopping everything")
        if all(name in self._outcome.codes for name, child in self._children.items() if child.program.is_leader):
            return True
        if not self._outcome.reason and self._due is not None and time.monotonic() >= self._due[1]:
            self._at_once = True
            self._break_off(self._due[0], "stopping everything")
        return bool(self._outcome.reason)

    def _still_running(self) -> list[str]:
        return [name for name, child in self._children.items() if child.running]

    def _step(self) -> None:
        """Forward output and handle exits, for a moment."""
        self._forward_output(_SLICE_S)
        # a leader may have ended for want of another: looked at first, it cannot be seen to end before that one
        leaders_first = sorted(self._children.values(), key=lambda child: not child.program.is_leader)
        ended = [(child.program, code) for child in leaders_first if (code := child.poll()) is not None]
        for program, code in reversed(ended):
            self._forward_output()
            self._outcome.codes[program.name] = code
            self._handle_exit(program, code)

    def _handle_exit(self, program: Program, code: int) -> None:
        """Break the run off if this is the first program that failed."""
        if self._leaving or self._stopping.requested or self._outcome.reason:
            return
        reason = f"{program.name} ended with exit code {code}"
        if code == USAGE:
            reason += ": it cannot run like this"
        if error := self._errors.get(program.name):
            reason += f" ({error})"
        if code < 0:
            self._at_once = True
            self._break_off(f"{program.name} was killed by {signal_name(-code)}", "stopping everything")
        elif code == USAGE:
            self._at_once = True
            self._break_off(reason, "stopping everything")
        elif code and not program.is_leader:
            self._break_off(reason, "the others have a moment to leave")
        elif code and program.is_last:
            self._due = reason, time.monotonic() + self._linger_s

    def _break_off(self, reason: str, what_follows: str) -> None:
        self._outcome.reason = reason
        self._tell(OWN, f"{reason}; {what_follows}")

    def _stop(self) -> None:
        for child in self._children.values():
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
            if line.startswith(_ERROR):
                self._errors[name] = printable(line.removeprefix(_ERROR), _ERROR_AT_MOST)
            self._tell(name, line)


_ERROR: Final = "wolfbus: "
"""With it begins the line that tells why a command of ours fails."""
_ERROR_AT_MOST: Final = 300
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
            text = json.dumps({"level": "info", "event": line, "service": OWN}) if name == OWN else line
        else:
            if name not in self._colours:
                self._colours[name] = next(self._next)
            text = click.style(f"{name:{_WIDTH}} │ ", fg=self._colours[name]) + _sanitised(line)
        # a terminal that is closed takes nothing, and is no reason to kill anybody
        with contextlib.suppress(OSError):
            click.echo(text, err=True)


def _sanitised(line: str) -> str:
    """Return a line without anything that a terminal would obey; a traceback's lines keep their indentation."""
    text = line.lstrip(" ")
    return " " * min(len(line) - len(text), 40) + printable(text, _LINE_SHOWN_AT_MOST)
