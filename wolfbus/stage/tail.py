"""`RecordTail`: reads a record file on disk, and goes on where it stopped when the file has grown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wolfbus.errors import RecordError, reason_of
from wolfbus.record.line import Recorded
from wolfbus.record.reader import LINE_LIMIT, open_lines, read_record

_PIECE: Final = 1 << 20


class RecordTail:
    """Reads a record file on disk, and goes on where it stopped when the file has grown.

    Args:
        path: the file; a gzip file is read as it is, and does not grow.

    Attributes:
        problem: what is wrong with the line after those read, in one line; it is read no further then.
        offset: bytes read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        self.offset = 0
        self._rest = b""
        self._reader = read_record(())
        self._packed = False

    @property
    def head(self) -> str:
        """Hash of the last line read, "" before the first."""
        return self._reader.head

    @property
    def lines(self) -> int:
        """Lines read and found right."""
        return self._reader.count

    def read(self) -> list[Recorded]:
        """Return the lines that are new and whole."""
        if self.problem is not None or self._packed:
            return []
        try:
            return list(self._new())
        except OSError as error:
            self.problem = f"cannot be read: {reason_of(error)}"
            return []

    def cut_off(self) -> str | None:
        """Return what is wrong with a file that nobody writes any more: a last line that is not whole."""
        if self.problem is None and self._rest:
            return f"line {self.lines + 1}: cut off in the middle; {self.lines} whole lines before it"
        return self.problem

    def _new(self) -> Iterator[Recorded]:
        with self.path.open("rb") as file:
            if self.offset == 0 and file.read(1) == b"\x1f":
                self._packed = True
                yield from self._unpacked()
                return
            file.seek(self.offset)
            while piece := file.read(_PIECE):
                self.offset += len(piece)
                *lines, self._rest = (self._rest + piece).split(b"\n")
                for line in lines:
                    recorded = self._take(line + b"\n")
                    if recorded is None:
                        return
                    yield recorded
                if len(self._rest) > LINE_LIMIT:
                    self.problem = f"line {self.lines + 1}: longer than {LINE_LIMIT >> 20} MiB"
                    return

    def _unpacked(self) -> Iterator[Recorded]:
        try:
            for line in open_lines(self.path):
                recorded = self._take(line)
                if recorded is None:
                    return
                yield recorded
        except RecordError as error:
            self.problem = str(error)

    def _take(self, line: bytes) -> Recorded | None:
        try:
            return self._reader.take(line)
        except RecordError as error:
            self.problem = str(error)
            return None
