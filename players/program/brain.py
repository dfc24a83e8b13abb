"""`ChildBrain`: a program of the user's, in any language, takes a seat; spec ``exec:COMMAND``."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from players.program.process import ChildProcess, Received, shut_down_later
from players.program.protocol import (
    StrayLines,
    ask_line,
    bye_line,
    failed,
    hello_line,
    read_reply,
    request_id_of,
    unusable,
)
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.agent.answer import worth_until
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted, printable
from wolfbus.knowledge.view import Memory, SeatView
from wolfbus.messages.requests import Ask, PublicFact

logger = logging.getLogger(__name__)

RESTARTS: Final = 3
"""How often a child is started again in one game."""

_SHOWN: Final = 60


class ChildBrain(Agent):
    """Asks a child process, one JSON line a request, and reads one line a reply; see docs/line-protocol.md.

    The child starts with the first request, in a process group of its own; where its seat is killed before that, it
    starts at the end of the game, to be told of it. If it ends, the open request is closed without content, and it is
    started again for the next one, `RESTARTS` times; after that every request is closed at once. Until a request's
    deadline a silent child is waited for; what it says later is passed over.

    A line answers the request whose id it has, even if the rest of it is broken; any other line
    answers nothing: it is noted, and the wait goes on.

    Args:
        command: the program and its arguments, not blank, split as a shell would; no shell runs.
        logs: folder for the child's error output, a file ``SEAT-PID.stderr`` per start; None lets it through to our
            own, line by line.
        note: told of each answer, with the game's id.

    Raises:
        ConfigError: the command cannot be split, there is no such program, or this system has no process
            groups.
    """

    def __init__(self, command: str, logs: Path | None, note: Callable[[str, Answer], None]) -> None:
        self._argv = _split(command)
        self._program = f"`{printable(command, _SHOWN)}`"
        self._logs = logs
        self._note = note
        self._process: ChildProcess | None = None
        self._starts = 0
        self._request_ids: set[str] = set()
        self._stray = StrayLines(printable(command, _SHOWN))
        self._view: SeatView | None = None
        self._notes: list[str] = []
        self._dropped = 0
        self._end_reason = ""
        self._talk_lock = threading.Lock()
        self._process_lock = threading.Lock()
        self._closed = False

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        """Put one request to the child, and wait for its line until the deadline.

        Returns:
            What it answers, or why that cannot be used; `NO_ANSWER` if it is silent.
        """
        with self._talk_lock:
            if self._closed:
                return NO_ANSWER
            self._view = view
            read = self._answer(ask, view)
            answer = NO_ANSWER if read is None else self._with_notes(read)
        # outside the lock, for the game may end by it, and with it this brain
        self._note(self.game, answer)
        return answer

    def heard(self, _news: Sequence[PublicFact | Memory], view: SeatView, /) -> None:
        """Keep the view, of which the child is told at the end."""
        self._view = view

    def close(self) -> None:
        """End the child in the background: "bye", the end of its input, SIGTERM, SIGKILL."""
        view, last = self._view, bye_line(self._view)
        if view is not None and view.ended is not None and view.death is not None and not self._starts:
            # killed before it was asked anything
            self._start(view)
            last = hello_line(view) + last
        with self._process_lock:
            if self._closed:
                return
            self._closed = True
            process = self._process
        if process is not None:
            process.interrupt()
            shut_down_later(process, last, self._talk_lock)

    def _answer(self, ask: Ask, view: SeatView) -> Answer | None:
        self._check_process(view)
        until = worth_until(ask, view)
        line = ask_line(ask, view)
        process = self._process
        if process is None:
            started = self._start(view)
            if not isinstance(started, ChildProcess):
                return started
            process = started
            line = hello_line(view) + line
        self._request_ids.add(ask.id)
        process.send(line)
        return self._await_reply(ask, view, process, until)

    def _await_reply(self, ask: Ask, view: SeatView, process: ChildProcess, until: float) -> Answer | None:
        while True:
            line = process.read_line(until)
            if isinstance(line, str):
                return self._without_line(line, view, process)
            request_id = request_id_of(line, ask.id)
            if request_id == ask.id:
                return read_reply(line, ask, view)
            if request_id is None:
                self._stray.add(line, view.me)
            elif request_id in self._request_ids:
                self._dropped += 1
            else:
                return unusable(line, f"the reply names a request that never was: {printable(request_id, _SHOWN)}")

    def _check_process(self, view: SeatView) -> None:
        """Pass over what the child wrote since the last request, and drop a child that has ended since."""
        process = self._process
        if process is None:
            return
        for line in process.drain():
            if request_id_of(line) is None:
                self._stray.add(line, view.me)
            else:
                self._dropped += 1
        if process.ended:
            self._process_ended(process, view.me)
            self._notes.append(self._end_reason)

    def _start(self, view: SeatView) -> ChildProcess | Answer | None:
        with self._process_lock:
            if self._closed:
                return None
            if self._starts > RESTARTS:
                return failed(f"{self._end_reason}; it was started {self._starts} times, and is not again")
            self._starts += 1
            try:
                process = ChildProcess(self._argv, view.me, self._logs)
            except OSError as error:
                self._end_reason = f"{self._program} could not be started: {printable(str(error))}"
                logger.warning("%s: %s", view.me, self._end_reason)
                return failed(self._end_reason)
            self._process = process
            return process

    def _without_line(self, why: Received, view: SeatView, process: ChildProcess) -> Answer | None:
        if why == "ended":
            self._process_ended(process, view.me)
            return failed(self._end_reason)
        if why == "flood":
            return unusable(None, "the child wrote without end, and nothing of it answers")
        return None

    def _process_ended(self, process: ChildProcess, seat: str) -> None:
        self._end_reason = f"{self._program} {process.describe_end()}"
        if not self._closed:
            logger.warning("%s: %s", seat, self._end_reason)
        with self._process_lock:
            self._process = None
        shut_down_later(process)

    def _with_notes(self, answer: Answer) -> Answer:
        """Add to the note what happened since the last answer."""
        if self._dropped:
            were = "was" if self._dropped == 1 else "were"
            self._notes.append(f"{counted(self._dropped, 'line')} {were} passed over, late or not asked for")
            self._dropped = 0
        if stray := self._stray.note():
            self._notes.append(stray)
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
        raise ConfigError(f"exec:{printable(command)}: {str(error)[:1].lower()}{str(error)[1:]}") from None
    if "\0" in command or shutil.which(argv[0]) is None:
        program = printable(repr(argv[0]), _SHOWN)
        raise ConfigError(f"exec:{printable(command)}: there is no program {program}, or it may not be run")
    return argv
