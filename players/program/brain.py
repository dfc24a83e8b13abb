"""`ChildBrain`: a program of the user's, in any language, takes a seat; spec ``exec:COMMAND``."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from players.program.babble import Babble
from players.program.farewell import expect, see_off
from players.program.ledger import Ledger, Place
from players.program.process import ChildProcess, Heard
from players.program.protocol import ask_line, bye_line, hello_line
from players.program.reply import failed, mentions, outline, read_reply, unusable
from players.program.splitter import Overlong
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.errors import ConfigError
from wolfbus.messages.requests import Ask, PublicFact
from wolfbus.printable import printable
from wolfbus.view import Memory, SeatView

logger = logging.getLogger(__name__)

RESTARTS: Final = 3
"""How often a child is started again in one game."""

GRACE: Final = 1.0
"""Seconds in which a stray line may still be followed by an answer, from a child that answers without ids."""

_SHOWN: Final = 60

_Sort: TypeAlias = Place | Literal["babble", "stray"]
"""What a line is: besides its place among the requests, one that answers nothing, or one that may yet turn out so."""


class ChildBrain(Agent):
    """Asks a child process, one JSON line a request, and reads one line a reply; see docs/line-protocol.md.

    The child starts with the first request, in a process group of its own; where its seat is killed before that, it
    starts at the end of the game, to be told of it. If it ends, the open request is closed without content, and it is
    started again for the next one, `RESTARTS` times; after that every request is closed at once. Until a request's
    deadline a silent child is waited for; what it says later is passed over.

    A line that is no JSON object answers nothing where the child answers with ids, or has not answered yet: it is
    noted, and the wait goes on. From a child without ids, a line without any "{" counts as its answer only if nothing
    follows it within `GRACE`.

    Args:
        command: the program and its arguments, split as a shell would; no shell runs.
        logs: folder for the child's error output, a file ``SEAT-PID.stderr`` per start; None lets it through to our
            own, line by line.

    Raises:
        ConfigError: the command is empty or cannot be split, there is no such program, or this system has no process
            groups.
    """

    def __init__(self, command: str, logs: Path | None = None) -> None:
        self._argv = _split(command)
        self._shown = f"`{printable(command, _SHOWN)}`"
        self._logs = logs
        self._process: ChildProcess | None = None
        self._starts = 0
        self._ledger = Ledger()
        self._babble = Babble(printable(command, _SHOWN))
        self._names_requests = False
        self._replied = False
        self._view: SeatView | None = None
        self._notes: list[str] = []
        self._dropped = 0
        self._ending = ""
        self._talk = threading.Lock()
        self._door = threading.Lock()
        self._closed = False

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        """Put one request to the child, and wait for its line until the deadline.

        Returns:
            What it answers, or why that cannot be used; `NO_ANSWER` if it is silent.
        """
        with self._talk:
            if self._closed:
                return NO_ANSWER
            self._view = view
            answer = self._answer(ask, view)
            return NO_ANSWER if answer is None else self._noted(answer)

    def heard(self, _news: Sequence[PublicFact | Memory], view: SeatView, /) -> None:
        """Take note of what the child is told at the end."""
        self._view = view

    def close(self) -> None:
        """Send the child away in the background: "bye", the end of its input, SIGTERM, SIGKILL."""
        view, last = self._view, bye_line(self._view)
        if view is not None and view.ended is not None and view.death is not None and not self._starts:
            # killed before it was asked anything
            self._start(view)
            last = hello_line(view) + last
        with self._door:
            if self._closed:
                return
            self._closed = True
            process = self._process
        if process is not None:
            process.interrupt()
            see_off(process, last, self._talk)

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
        return self._hear(ask, view, process, until)

    def _hear(self, ask: Ask, view: SeatView, process: ChildProcess, until: float) -> Answer | None:
        stray: bytes | Overlong | None = None
        while True:
            heard = process.listen(until if stray is None else min(until, time.monotonic() + GRACE))
            if isinstance(heard, str):
                if stray is None or heard == "closed":
                    return self._unanswered(heard, ask, view, process)
                if answer := self._meant(stray, heard, ask, view):
                    return answer
                stray = None
                continue
            if stray is not None:
                self._babble.hear(stray, view.me)
                stray = None
            sort = self._sort(heard, ask, view)
            if sort == "answer":
                return self._read(heard, ask, view)
            if sort == "stranger":
                raw = heard if isinstance(heard, bytes) else heard.start
                named = printable(outline(heard).id or "", _SHOWN)
                return unusable(raw, f"the reply names a request that never was: {named}")
            if sort == "stray":
                stray = heard
            elif sort == "babble":
                self._babble.hear(heard, view.me)
            else:
                self._dropped += 1

    def _meant(self, stray: bytes | Overlong, why: Heard, ask: Ask, view: SeatView) -> Answer | None:
        """Return what a stray line answers after all, since nothing followed it; None for nothing."""
        answer = read_reply(stray, ask, view)
        if why != "late" and answer.content is None:
            self._babble.hear(stray, view.me)
        elif self._ledger.place(None, ask.id) == "answer":
            return self._read(stray, ask, view)
        else:
            self._dropped += 1
        return None

    def _sort(self, line: bytes | Overlong, ask: Ask, view: SeatView) -> _Sort:
        """Return what a line is that comes while a request is open."""
        if isinstance(line, Overlong):
            return self._ledger.place(None, ask.id)
        found = outline(line)
        if found.whole:
            self._replied = True
            if found.id is not None:
                self._names_requests = True
            elif self._names_requests and read_reply(line, ask, view).content is None:
                # a structured log, say: its answers have an id
                return "babble"
            return self._ledger.place(found.id, ask.id)
        if mentions(line, ask.id):
            self._replied = self._names_requests = True
            return self._ledger.place(ask.id, ask.id)
        if self._names_requests:
            return "babble"
        if b"{" not in line:
            return "stray" if self._replied else "babble"
        if not self._replied and not line.lstrip().startswith(b"{") and read_reply(line, ask, view).content is None:
            return "babble"
        self._replied = True
        return self._ledger.place(None, ask.id)

    def _read(self, line: bytes | Overlong, ask: Ask, view: SeatView) -> Answer:
        answer = read_reply(line, ask, view)
        if answer.fault == "unparseable":
            self._babble.tell(line, view.me)
        return answer

    def _look_after(self, view: SeatView) -> None:
        """Pass over what the child wrote since the last request, and let go of one that has ended since."""
        process = self._process
        if process is None:
            return
        for line in process.unasked():
            found = outline(line)
            chatter = not found.whole and isinstance(line, bytes) and (not self._replied and b"{" not in line)
            if chatter or (self._names_requests and not found.whole):
                self._babble.hear(line, view.me)
                continue
            self._names_requests |= found.id is not None
            self._ledger.place(found.id, None)
            self._dropped += 1
        if process.gone:
            self._lose(process, view.me)
            self._notes.append(self._ending)

    def _start(self, view: SeatView) -> ChildProcess | Answer | None:
        with self._door:
            if self._closed:
                return None
            if self._starts > RESTARTS:
                return failed(f"{self._ending}; it was started {self._starts} times, and is not again")
            self._starts += 1
            try:
                process = ChildProcess(self._argv, view.me, self._logs)
            except OSError as error:
                self._ending = f"{self._shown} could not be started: {printable(str(error))}"
                logger.warning("%s: %s", view.me, self._ending)
                return failed(self._ending)
            expect(process)
            self._ledger.forget()
            self._replied = False
            self._process = process
            return process

    def _unanswered(self, why: Heard, ask: Ask, view: SeatView, process: ChildProcess) -> Answer | None:
        if why == "gone":
            self._lose(process, view.me)
            return failed(self._ending)
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
        if babbled := self._babble.note():
            self._notes.append(babbled)
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
