"""`GameArchive`: one game's record, carried from the bus to a file and folded on the way.

The file holds exactly the lines that the record's seals were made over. It is the archive's only memory: after a crash
everything is taken up from it, and the bus is read on behind its last whole line.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from analytics.fold import GameFold
from analytics.rows import GameRows
from wolfbus.bus.protocol import Entry
from wolfbus.errors import MessageError, RecordError, RulesError, reason_of
from wolfbus.files.printable import counted
from wolfbus.messages.codec import unpack
from wolfbus.messages.events import Asked, Ended, Opened, Stopped
from wolfbus.messages.house import GameClosed, HouseClosed
from wolfbus.record.line import Recorded, check_seal, line_of, parse_flat
from wolfbus.record.reader import FIRST_LINE_LIMIT, RecordReader, open_lines, read_record
from wolfbus.record.writer import RecordFile

logger = logging.getLogger(__name__)

_Line: TypeAlias = tuple[bytes, Recorded]
"""A line without its newline, and what it says."""

_SEAL: Final = 32
"""Bytes of a seal."""


class GameArchive:
    """The file of one game's record, and the fold over its lines.

    Args:
        folder: where the file is, or will be.
        game: the game's id; the file is ``GAME.ndjson``.

    Attributes:
        game: the game's id.
        path: the file.
        position: round and phase of the latest question, as far as known.
        unmeasured: why the game cannot be measured, though its record may be whole; None if it can.
        over: whether the last line is the end of the game, or says that it was broken off.

    Raises:
        RecordError: the file is there, but is no record of this game; it is left alone. The line names it.
    """

    def __init__(self, folder: Path, game: str) -> None:
        self.game = game
        self.path = folder / f"{game}.ndjson"
        self.position: tuple[int, str] | None = None
        self.unmeasured: str | None = None
        self.over = False
        self._fold = GameFold()
        self._file: RecordFile | None = None
        self._seals = bytearray()
        self._resume()

    @property
    def lines(self) -> int:
        """Lines that are in the file and right."""
        return len(self._seals) // _SEAL

    @property
    def head(self) -> str:
        """Seal of the last of them, "" for none."""
        return self._seal(self.lines)

    def rows(self) -> GameRows:
        """Return what the lines say.

        Raises:
            RulesError: they do not even hold the opening.
        """
        return self._fold.rows()

    def append(self, entries: Sequence[Entry]) -> str | None:
        """Append entries of the record stream, in order; what is in the file already is passed over.

        A line that differs from the file's, and goes on from the line before, takes its place: the step had been lost
        on the bus and was done anew. What is behind it in the file is cut off, and forgotten.

        Returns:
            None; or why an entry does not go on from what is there, in one line. Those before it are written.

        Raises:
            RecordError: the file cannot be written.
        """
        pending: list[_Line] = []
        for entry in entries:
            try:
                line = self._parse(entry, pending)
            except (MessageError, RecordError, ValueError) as error:
                self._write(pending)
                return f"entry {entry.id}: {error}"
            if line is None:
                continue
            number = line[1].n
            if number <= self.lines:
                pending = []
                self._cut(number - 1, f"the bus holds another line {number}")
            del pending[number - self.lines - 1 :]
            pending.append(line)
        self._write(pending)
        return None

    def truncate(self, lines: int) -> None:
        """Cut off what is behind the first `lines` lines; for a record that turned out to be shorter."""
        if lines < self.lines:
            self._cut(lines, f"the record ends with line {lines}")

    def holds(self, lines: int, head: str) -> bool:
        """Return whether line `lines` is there and has the seal `head`."""
        return lines <= self.lines and self._seal(lines) == head

    def finish(self) -> int:
        """Return once the file is on the disk itself, and holds nothing but the lines; it may be taken up again.

        Returns:
            The bytes it has.

        Raises:
            RecordError: the disk failed, or there is no file.
        """
        (self._file or RecordFile(self.path, keep=self.lines)).close()
        self._file = None
        try:
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            return self.path.stat().st_size
        except OSError as error:
            raise RecordError(f"{self.path.parent}: {reason_of(error)}") from None

    def is_intact(self) -> bool:
        """Return whether a file that is being written has the lines that were written, and ends with the last."""
        if self._file is None:
            return True
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError:
            return False
        return len(lines) == self.lines and self.head.encode() in lines[-1]

    def reload(self) -> None:
        """Take up what is left of the file, which somebody else has changed."""
        with contextlib.suppress(RecordError):
            self.close()
        self._refold(None if self.path.is_file() else 0)

    def close(self) -> None:
        """Write everything to the disk and close the file, if it is open.

        Raises:
            RecordError: the disk failed.
        """
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _seal(self, number: int, pending: Sequence[_Line] = ()) -> str:
        """Return the seal of a line that is in the file, or about to be; "" for number 0."""
        if number > self.lines:
            return pending[number - self.lines - 1][1].hash
        return self._seals[(number - 1) * _SEAL : number * _SEAL].hex() if number else ""

    def _parse(self, entry: Entry, pending: Sequence[_Line]) -> _Line | None:
        """Return the line that an entry adds, or puts in the place of another; None if it is there already.

        Raises:
            RecordError: it does not go on from the line before, or holds no event.
            MessageError: it is no message.
        """
        members = unpack(entry.body)
        number, last = members.get("n"), self.lines + len(pending)
        if number.__class__ is not int or number < 1:
            raise RecordError("its line has no number")
        if number > last + 1:
            raise RecordError(f"line {number} came where line {last + 1} was expected")
        if number <= last and members.get("hash") == self._seal(number, pending):
            return None
        line = line_of(members)
        stated = check_seal(self._seal(number - 1, pending), line, number)
        recorded = parse_flat(members, number)
        if recorded.hash != stated:
            raise RecordError("its seal is not where a record has it", number)
        event = recorded.event
        if isinstance(event, Opened) != (number == 1):
            raise RecordError("a record opens with its first line, and there only", number)
        if isinstance(event, Opened) and event.game != self.game:
            raise RecordError(f"opens game {event.game}", number)
        return line, recorded

    def _write(self, pending: Sequence[_Line]) -> None:
        """Write lines, then count and fold them."""
        if not pending:
            return
        if self._file is None:
            # a file that is there may hold more than its right lines, which now go
            exists = os.path.lexists(self.path)
            self._file = RecordFile(self.path, keep=self.lines if exists else None)
        self._file.write(line for line, _ in pending)
        for _, recorded in pending:
            self._count(recorded)

    def _count(self, recorded: Recorded) -> None:
        self._seals += bytes.fromhex(recorded.hash)
        self.over = isinstance(recorded.event, Ended | Stopped)
        if isinstance(recorded.event, Asked):
            self.position = (recorded.event.round, recorded.event.phase)
        if self.unmeasured is not None:
            return
        try:
            self._fold.take(recorded)
        except RulesError as error:
            self.unmeasured = f"line {recorded.n}: {error}"
            logger.warning("this record cannot be measured: %s", self.unmeasured, extra={"game": self.game})

    def _cut(self, lines: int, why: str) -> None:
        cut = self.lines - lines
        logger.warning(
            "%s: %s: steps were lost on the bus and done anew; the last %s here %s cut off",
            self.path,
            why,
            counted(cut, "line"),
            "is" if cut == 1 else "are",
            extra={"game": self.game},
        )
        self.close()
        self._refold(lines)

    def _refold(self, lines: int | None = None) -> RecordReader:
        """Start anew and read the file's first lines again, or all of them."""
        self._seals.clear()
        self._fold, self.unmeasured, self.position, self.over = GameFold(), None, None, False
        with closing(open_lines(self.path)) if lines != 0 else nullcontext(()) as lines_read:
            reader = read_record(islice(lines_read, lines), tolerant=True)
            for recorded in reader:
                self._count(recorded)
        return reader

    def _resume(self) -> None:
        if not os.path.lexists(self.path):
            return
        reader = self._refold()
        if reader.opened is not None and reader.opened.game != self.game:
            raise RecordError(f"{self.path}: holds the record of game {reader.opened.game}; it is left alone")
        if reader.problem is None:
            return
        problem = str(reader.problem).removeprefix(f"{self.path}: ")
        if not self.lines and not _is_cut_off(self.path):
            raise RecordError(f"{self.path}: {problem}; it is left alone")
        logger.warning(
            "%s: %s; what is behind %s is taken from the bus again",
            self.path,
            problem,
            counted(self.lines, "line"),
            extra={"game": self.game},
        )


@dataclass(slots=True)
class UnsettledGame:
    """A game whose record is being carried into its file.

    Attributes:
        number: its place in the session, from 1.
        closed: how the moderator closed it.
        archive: its file, None if there can be none.
        error: why its record will not be whole.
        rereading: whether its record is read again, and has not come from its first line yet.
        from_start: whether its record was followed from its first line when that was last begun.
        doubted_at: where the record did not go on when it was last read again.
        news_doubted: news of the end, the game's or the house's, that was asked for again since it did not go with the
            record.
        lines_checked: lines there were at the last view.
        seen: number of the last line that was brought since the record was last followed.
    """

    number: int
    closed: GameClosed | None = None
    archive: GameArchive | None = None
    error: str | None = None
    rereading: bool = False
    from_start: bool = False
    doubted_at: tuple[int, str] | None = None
    news_doubted: GameClosed | HouseClosed | None = None
    lines_checked: int = -1
    seen: int = 0


def _is_cut_off(path: Path) -> bool:
    """Return whether a file holds no whole line: nothing, or the beginning of a record's first one."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            beginning = file.read(FIRST_LINE_LIMIT + 1)
    except OSError:
        return False
    return len(beginning) <= FIRST_LINE_LIMIT and b"\n" not in beginning
