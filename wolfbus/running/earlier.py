"""`EarlierPlay`: what is left of a game that was broken off, in a study's folder or on a bus, from which it goes on;
`SaidFile`, which keeps in the folder what its players have said, and its record does not hold yet.

A step stands in a record once all its answers are there. What was answered before that has been paid for, too: on a
Redis it stands on the out stream of whoever answered; beside a file it is kept in another, a line a message.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moderator.engine.reexecution import read_back, recover
from moderator.engine.reports import ReportedCall
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.errors import MessageError, RecordError, WolfError, reason_of
from wolfbus.files.whole_file import write_all, write_whole
from wolfbus.messages.codec import pack, unpack
from wolfbus.messages.events import Answered, Opened
from wolfbus.record.line import Recorded, seal
from wolfbus.record.reader import open_buffered, open_lines, read_record
from wolfbus.record.writer import RecordFile
from wolfbus.study.said import said_path

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EarlierPlay:
    """A game that was broken off, as far as it was played.

    Attributes:
        record: its events, up to the end of a step.
        messages: what its players have said, in order; what the record accounts for may be among it.
        progress: how far it came: lines of its record, and answers and model calls that it does not hold yet.
    """

    record: Sequence[Recorded]
    messages: Sequence[Entry]
    progress: int

    @property
    def opened(self) -> Opened:
        """Its opening event."""
        event = self.record[0].event
        if not isinstance(event, Opened):
            raise TypeError(f"a record begins with its opening, and not with {event.type}")
        return event

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of its record, without their newlines."""
        head = ""
        for recorded in self.record:
            sealed, line = seal(head, recorded)
            head = sealed.hash
            yield line

    def open_file(self, path: Path) -> RecordFile:
        """Write its record into a file of its own, in place of whatever is there, and open that to go on with it.

        Raises:
            RecordError: it cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, (line + b"\n" for line in self.lines()))
        except OSError as error:
            raise RecordError(f"{path}: cannot be written: {reason_of(error)}") from error
        return RecordFile(path, keep=len(self.record))


def earlier_play(record: Iterable[Recorded], messages: Sequence[Entry]) -> EarlierPlay | None:
    """Return what a game goes on from; None if its record is none that one can go on from: it does not begin or not
    hold, or says that the game was stopped.
    """
    events = list(record)
    try:
        game = recover(events)
    except WolfError as error:
        logger.debug("a game begins anew: %s", error)
        return None
    if game.stopped is not None:
        return None
    # what a reader of this record would take in now, by the moderator's own rules
    verdicts = [verdict for entry in messages for verdict in game.referee.receive(entry.sender, entry)]
    progress = game.count + sum(isinstance(verdict, Answered | ReportedCall) for verdict in verdicts)
    return EarlierPlay(events[: game.count], messages, progress)


def find_in_folder(record: Path) -> EarlierPlay | None:
    """Return what is left of a game in a study's folder; None if nothing is that one can go on from."""
    if not record.is_file():
        return None
    try:
        return earlier_play(
            read_record(open_lines(record), tolerant=True), [message for _, message in read_said(record)]
        )
    except (OSError, WolfError):
        return None


def find_on_bus(bus: Bus, house: str, agent: str, game: str) -> EarlierPlay | None:
    """Return what is left on a bus of a game that was played in another house; None if nothing is to go on from.

    Args:
        bus: where it is.
        house: in which it was played.
        agent: who played all its seats there.
        game: its id.

    Raises:
        BusDown: the bus is away.
    """
    try:
        record = list(read_back(bus, house, game))
    except RecordError:
        return None
    # what was said in houses before is copied to a stream of the game's own
    earlier = every_entry(bus, streams.outbox(house, game))
    messages = {
        entry.id: entry._replace(sender=agent)
        for entry in (*earlier, *every_entry(bus, streams.outbox(house, agent)))
        if entry.game == game
    }
    return earlier_play(record, list(messages.values()))


class SaidFile:
    """Keeps what was said in one game, a line a message; what was written survives `kill -9`. Safe from any thread: the
    game may end while one more message comes.

    Args:
        record: the file of the game's record.
        earlier: what was said before, which comes first in a file of its own.

    Raises:
        RecordError: it cannot be written.
    """

    def __init__(self, record: Path, earlier: Sequence[Entry] = ()) -> None:
        self._path = path = said_path(record)
        self._lock = threading.Lock()
        # whoever else has it open, such as a worker that was thought dead, writes on into the old one
        old = dict(_said_lines(record)) if earlier else {}
        try:
            path.parent.mkdir(exist_ok=True)
            write_whole(path, [old.get(entry.id) or _line_of(entry) for entry in earlier])
            self._fd: int | None = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise RecordError(f"{path}: cannot be written: {reason_of(error)}") from error

    def write(self, entries: Iterable[Entry]) -> None:
        """Add messages, none once it is closed; where they cannot be written the game is played all the same."""
        lines = b"".join(map(_line_of, entries))
        with self._lock:
            if self._fd is None:
                return
            try:
                write_all(self._fd, lines)
            except OSError as error:
                logger.warning("%s: cannot be written: %s", self._path, reason_of(error))
                self._close()

    def close(self) -> None:
        """Close it; a second call does nothing."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            with contextlib.suppress(OSError):
                os.close(fd)


def read_said(record: Path) -> list[tuple[float, Entry]]:
    """Return what was said in a game, each message with the Unix time at which it came; nothing if none was kept.

    A line that was cut off or holds no message, and what comes behind it, are left out.
    """
    messages = []
    for _, line in _said_lines(record):
        try:
            value = json.loads(line)
            sort, sender, game, name = words = [value[member] for member in ("type", "sender", "game", "id")]
            if not all(isinstance(word, str) for word in words):
                break
            entry = Entry(pack(value["message"]), sort, sender, game, 0, name)
            messages.append((float(value["at"]), entry))
        except (ValueError, KeyError, TypeError, OverflowError):
            break
    return messages


def _said_lines(record: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the whole lines of what was said in a game, each with the id of its message."""
    try:
        # the folder may be somebody else's: a pipe would be waited for, and a line nested as deep as its maker likes
        with open_buffered(said_path(record)) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield str(json.loads(line).get("id")), line
    except (FileNotFoundError, ValueError, AttributeError, RecursionError):
        return


def _line_of(entry: Entry) -> bytes:
    try:
        message: Any = unpack(entry.body)
    except MessageError:
        # it makes nothing of the game but a line that says so
        return b""
    value = {"at": round(time.time(), 3), "id": entry.id, "type": entry.type, "sender": entry.sender}
    return json.dumps({**value, "game": entry.game, "message": message}).encode() + b"\n"
