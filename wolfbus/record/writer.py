"""Writing a record to disk so that a killed process loses at most the step it was in.

Every step is one unbuffered write; what was written survives `kill -9`. `sync`, at the end of each phase, makes it
survive a power cut too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from wolfbus.errors import RecordError

# macOS has no fdatasync
_sync = getattr(os, "fdatasync", os.fsync)


class RecordFile:
    """A new NDJSON file that takes a record's lines in order.

    Once a write has failed, every later one fails too: a record with a gap would be worse than a short one.

    Args:
        path: the file to create; folders above it are created as needed.

    Raises:
        RecordError: the file exists, or cannot be created. The line names the file and the reason.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._size = 0
        self._failure: RecordError | None = None
        self._fd: int | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = "that is no folder" if isinstance(error, FileExistsError | NotADirectoryError) else _reason(error)
            raise RecordError(f"{self.path}: cannot create {self.path.parent}: {reason}") from None
        try:
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            raise RecordError(f"{self.path}: exists already; no record is ever overwritten") from None
        except OSError as error:
            raise RecordError(f"{self.path}: cannot be created: {_reason(error)}") from None

    def write(self, lines: Iterable[bytes]) -> None:
        """Append the lines of one step, given without their newlines, as a whole.

        Raises:
            RecordError: the disk is full, the file is closed, … What was written of the step is taken back.
        """
        rest = memoryview(b"".join(line + b"\n" for line in lines))
        size = self._size + len(rest)
        fd = self._open_fd()
        try:
            while rest:
                rest = rest[os.write(fd, rest) :]
        except OSError as error:
            raise self._fail(f"cannot be written: {_reason(error)}{self._take_back(fd)}") from None
        self._size = size

    def sync(self) -> None:
        """Return once all that was written is on the disk itself.

        Raises:
            RecordError: the disk failed, or the file is closed.
        """
        fd = self._open_fd()
        try:
            _sync(fd)
        except OSError as error:
            raise self._fail(f"cannot be brought to the disk: {_reason(error)}") from None

    def close(self) -> None:
        """Sync and close; a second call does nothing.

        Raises:
            RecordError: the disk failed; the file is closed all the same.
        """
        fd, self._fd = self._fd, None
        if fd is None:
            return
        try:
            try:
                if self._failure is None:
                    _sync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise self._fail(f"cannot be brought to the disk: {_reason(error)}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_fd(self) -> int:
        if self._failure is not None:
            raise self._failure
        if self._fd is None:
            raise RecordError(f"{self.path}: closed already")
        return self._fd

    def _take_back(self, fd: int) -> str:
        try:
            os.ftruncate(fd, self._size)
        except OSError:
            return "; its last line may be cut off"
        return ""

    def _fail(self, reason: str) -> RecordError:
        self._failure = RecordError(f"{self.path}: {reason}")
        return self._failure


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
