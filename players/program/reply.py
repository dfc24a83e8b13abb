"""What a child writes: its lines, which request each answers, and what they are read as."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wolfbus.agent import Answer
from wolfbus.messages.requests import Ask
from wolfbus.printable import printable
from wolfbus.reading import Question, read
from wolfbus.view import SeatView
from wolfbus.vocabulary import Fault

logger = logging.getLogger(__name__)

LONGEST: Final = 1_000_000
"""Bytes of a line beyond which the rest of it is thrown away."""

_KEPT: Final = 4_096
"""Bytes that are kept of a line that cannot be used."""
_SHOWN: Final = 60
"""Characters of a printed line that are repeated."""


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line of more than `LONGEST` bytes.

    Attributes:
        start: its first bytes.
    """

    start: bytes


class Splitter:
    """Cuts a stream of bytes at its line feeds."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | Overlong]:
        """Take in the next bytes and return the lines they complete, without their ends; blank ones are left out."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield from self._add(end)
            yield from self.finish()
        yield from self._add(rest)

    def finish(self) -> Iterator[bytes]:
        """Return the line that was begun, if any: it has come to its end, or the stream has."""
        line = b"".join(self._pieces).removesuffix(b"\r")
        self._pieces.clear()
        self._size = 0
        self._skipping = False
        if line.strip():
            yield line

    def _add(self, piece: bytes) -> Iterator[Overlong]:
        if self._skipping or not piece:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > LONGEST:
            start = b"".join(self._pieces)[:_KEPT]
            self._pieces.clear()
            self._skipping = True
            yield Overlong(start)


def names(line: bytes | Overlong, request: str | None = None) -> str | None:
    """Return the id of the request that a line says it answers; None if it names none.

    A line that is no JSON object, such as a broken one, names the open `request` if it has its id
    in it, in quotes: the id of one request may begin that of another.
    """
    start = line.start if isinstance(line, Overlong) else line
    try:
        value = json.loads(start)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        named = value.get("id")
        return named if named is None or isinstance(named, str) else repr(named)
    if request is None:
        return None
    text = start.decode("utf-8", "replace")
    quoted = (json.dumps(request), json.dumps(request, ensure_ascii=False), f"'{request}'")
    return request if any(each in text for each in quoted) else None


def read_reply(line: bytes | Overlong, ask: Ask, view: SeatView) -> Answer:
    """Return what a line answers; a line that cannot be used becomes an answer without content that says why."""
    if isinstance(line, Overlong):
        return unusable(line.start, f"the child wrote a line of more than {LONGEST} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return unusable(line, "the reply is not UTF-8")
    found = read(text, Question(ask.kind, legal=ask.legal, names=view.names, bid_max=view.config.bid_max))
    if found.content is None:
        return Answer(None, thought=found.thought, raw=text, fault=found.fault or "unparseable", note=found.note)
    reading = found.reading or "clean"
    return Answer(found.content, thought=found.thought, reading=reading, raw=None if reading == "clean" else text)


def unusable(raw: bytes | None, note: str, fault: Fault = "unparseable") -> Answer:
    """Return the answer that closes a request without content; only the start of a long raw text is kept."""
    text = None if raw is None else raw[:_KEPT].decode("utf-8", "replace")
    return Answer(None, fault=fault, raw=text, note=note)


def failed(note: str) -> Answer:
    """Return the answer that closes a request to a child that has ended or cannot be started: nothing is to be read."""
    return unusable(None, note, "failed")


class Babble:
    """Lines of one seat's child that answer nothing, such as a banner or "thinking...".

    Args:
        command: the program, as it is named to the user.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._told = False
        self._first = ""
        self._lines = 0

    def hear(self, line: bytes | Overlong, seat: str) -> None:
        """Keep a line for the next answer's note; warn of the first one, the record tells of all."""
        if not self._told:
            self._told = True
            logger.warning(
                "%s: exec:%s printed %s, which is no answer: it lacks the request's id",
                seat,
                self._command,
                _shown(line),
            )
        if not self._lines:
            self._first = _shown(line)
        self._lines += 1

    def note(self) -> str:
        """Return in words what was heard since the last call; "" for nothing."""
        if not self._lines:
            return ""
        more = self._lines - 1
        beside = f" and {more} more line{'' if more == 1 else 's'}" if more else ""
        self._lines = 0
        return f"it printed {self._first}{beside}, which is no answer"


def _shown(line: bytes | Overlong) -> str:
    start = line.start if isinstance(line, Overlong) else line
    words = printable(start[: 16 * _SHOWN].decode("utf-8", "replace"), _SHOWN)
    return f'"{words}"' if words else "nothing that can be shown"
