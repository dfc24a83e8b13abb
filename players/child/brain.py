"""`ChildBrain`: a program of the user's, in any language, takes a seat; spec ``exec:COMMAND``."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from players.brain import Answer
from players.child.farewell import expect, see_off
from players.child.ledger import Ledger
from players.child.process import ChildProcess, Heard
from players.child.protocol import ask_line, bye_line, hello_line
from players.child.reply import named_id, read_reply, unusable
from wolfbus.errors import ConfigError
from wolfbus.messages.delivery import Ask
from wolfbus.printable import printable
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

logger = logging.getLogger(__name__)

RESTARTS: Final = 3
"""How often a child is started again in one game."""

_SHOWN: Final = 60


class ChildBrain:
    """Asks a child process, one JSON line a request, and reads one line a reply; see docs/line-protocol.md.

    The child starts with the first request, in a process group of its own. If it ends, the open request is closed
    without content, and it is started again for the next one, `RESTARTS` times; after that every request is closed at
    once. Until a request's deadline a silent child is waited for; what it says later is passed over.

    Args:
        command: the program and its arguments, split as a shell would; no shell runs.
        logs: folder for the child's error output, a file ``SEAT-PID.stderr`` per start; None lets it through to our
            own, line by line.

    Raises:
        ConfigError: the command is empty or cannot be split, there is no such program, or this system has no process
            groups.
    """

    quick = False
    declines: tuple[Kind, ...] = ()

    def __init__(self, command: str, logs: Path | None = None) -> None:
        self._argv = _split(command)
        self._shown = f"`{printable(command, _SHOWN)}`"
        self._logs = logs
        self._process: ChildProcess | None = None
        self._starts = 0
        self._ledger = Ledger()
        self._view: SeatView | None = None
        self._notes: list[str] = []
        self._dropped = 0
        self._ending = ""
        self._talk = threading.Lock()
        self._door = threading.Lock()
        self._closed = False

    def answer(self, ask: Ask, view: SeatView, /) -> Answer | None:
        """Put one request to the child, and wait for its line until the deadline.

        Returns:
            What it answers, or why that cannot be used; None if it is silent.
        """
        with self._talk:
            if self._closed:
                return None
            self._view = view
            answer = self._answer(ask, view)
            return answer if answer is None else self._noted(answer)

    def close(self) -> None:
        """Send the child away in the background: "bye", the end of its input, SIGTERM, SIGKILL."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            process = self._process
        if process is not None:
            process.interrupt()
            see_off(process, bye_line(self._view), self._talk)

    def _answer(self, ask: Ask, view: SeatView) -> Answer | None:
        self._look_after(view)
        # where a seat is absent, the moderator's patience is short; but a late answer brings the seat back
        until = time.monotonic() + max(ask.deadline_s, view.config.deadlines.of(ask.kind))
        line = ask_line(ask, view)
        process = self._process
        if process is None:
            started = self._start(view)
            if not isinstance(started, ChildProcess):
                return started
            process = started
            line = hello_line(view) + line
        self._ledger.ask(ask.id)
        process.post(line)
        while True:
            heard = process.listen(until)
            if isinstance(heard, str):
                return self._unanswered(heard, ask, view, process)
            named = named_id(heard)
            place = self._ledger.place(named, ask.id)
            if place == "answer":
                return read_reply(heard, ask, view)
            if place == "stranger":
                raw = heard if isinstance(heard, bytes) else heard.start
                return unusable(raw, f"the reply names a request that never was: {printable(named or '', _SHOWN)}")
            self._dropped += 1

    def _look_after(self, view: SeatView) -> None:
        """Pass over what the child wrote since the last request, and let go of one that has ended since."""
        process = self._process
        if process is None:
            return
        for line in process.unasked():
            self._ledger.place(named_id(line), None)
            self._dropped += 1
        if process.gone:
            self._lose(process, view.me)
            self._notes.append(self._ending)

    def _start(self, view: SeatView) -> ChildProcess | Answer | None:
        with self._door:
            if self._closed:
                return None
            if self._starts > RESTARTS:
                return unusable(None, f"{self._ending}; it was started {self._starts} times, and is not again")
            self._starts += 1
            try:
                process = ChildProcess(self._argv, view.me, self._logs)
            except OSError as error:
                self._ending = f"{self._shown} could not be started: {printable(str(error))}"
                logger.warning("%s: %s", view.me, self._ending)
                return unusable(None, self._ending)
            expect(process)
            self._ledger.forget()
            self._process = process
            return process

    def _unanswered(self, why: Heard, ask: Ask, view: SeatView, process: ChildProcess) -> Answer | None:
        if why == "gone":
            self._lose(process, view.me)
            return unusable(None, self._ending)
        if process.begun:
            self._ledger.give_up(ask.id)
        if why == "babble":
            return unusable(None, "the child wrote without end, and nothing of it answers")
        return None

    def _lose(self, process: ChildProcess, seat: str) -> None:
        self._ending = f"{self._shown} {process.fate()}"
        if not self._closed:
            logger.warning("%s: %s", seat, self._ending)
        with self._door:
            self._process = None
        see_off(process)

    def _noted(self, answer: Answer) -> Answer:
        """Add to the note what happened since the last answer."""
        if self._dropped:
            lines = "1 line was" if self._dropped == 1 else f"{self._dropped} lines were"
            self._notes.append(f"{lines} passed over, late or not asked for")
            self._dropped = 0
        if not self._notes:
            return answer
        note = "; ".join(filter(None, [answer.note, *self._notes]))
        self._notes.clear()
        return replace(answer, note=note)


def _split(command: str) -> list[str]:
    if os.name != "posix":
        raise ConfigError("exec: child processes need a POSIX system")
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"exec:{command}: {str(error)[:1].lower()}{str(error)[1:]}") from None
    if not argv:
        raise ConfigError("exec: names no command; write something like 'exec:python3 agent.py'")
    if "\0" in command or shutil.which(argv[0]) is None:
        raise ConfigError(f"exec:{command}: there is no program {argv[0]!r}, or it may not be run")
    return argv
