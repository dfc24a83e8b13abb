"""Writing a record to disk so that a killed process loses at most the step it was in, and going on with it later.

Every step is one unbuffered write; what was written survives `kill -9`. `sync`, at the end of each phase, makes it
survive a power cut too. The folder that records go to is tried before anything is played for them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from wolfbus.actors.closable import Closable
from wolfbus.errors import RecordError, reason_of
from wolfbus.files.printable import counted
from wolfbus.files.whole_file import write_all

_EXISTS: Final = "exists already; no record is ever overwritten"


def check_are_new(paths: Iterable[Path | None]) -> None:
    """Raise RecordError where a record to come has a file already, before anything is paid for it; None is no file."""
    for path in paths:
        if path is not None and os.path.lexists(path):
            raise RecordError(f"{path}: {_EXISTS}")


class RecordFile(Closable):
    """An NDJSON file that takes a record's lines in order: a new one, or one that is there and is gone on with.

    Once a write has failed, every later one fails too: a record with a gap would be worse than a short one.

    Args:
        path: the file; for a new one, folders above it are created as needed.
        keep: how many whole lines stay of one that is there, >= 0. What is behind them is cut off: a line that a power
            cut left unfinished, a step that never landed. None for a new file.

    Raises:
        RecordError: a new file exists or cannot be created; or there is none to go on with, it holds fewer whole
            lines, or it cannot be written, and is left as it was. The line names the file and the reason.
    """

    def __init__(self, path: str | Path, *, keep: int | None = None) -> None:
        self.path = Path(path)
        self._size = 0
        self._failure: RecordError | None = None
        self._fd: int | None = None
        if keep is not None:
            self._fd, self._size = _open_behind(self.path, keep)
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(
                f"{self.path}: cannot create {self.path.parent}: {reason_of(error, folder=True)}"
            ) from None
        try:
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            raise RecordError(f"{self.path}: {_EXISTS}") from None
        except OSError as error:
            raise RecordError(f"{self.path}: cannot be created: {reason_of(error)}") from None

    def write(self, lines: Iterable[bytes]) -> None:
        """Append the lines of one step, given without their newlines, as a whole.

        Raises:
            RecordError: the disk is full, the file is closed, … What was written of the step is taken back.
        """
        content = b"".join(line + b"\n" for line in lines)
        fd = self._open_fd()
        try:
            write_all(fd, content)
        except OSError as error:
            raise self._fail(f"cannot be written: {reason_of(error)}{self._truncate(fd)}") from None
        self._size += len(content)

    def sync(self) -> None:
        """Return once all that was written is on the disk itself.

        Raises:
            RecordError: the disk failed, or the file is closed.
        """
        fd = self._open_fd()
        try:
            _sync(fd)
        except OSError as error:
            raise self._fail(f"cannot be brought to the disk: {reason_of(error)}") from None

    def close(self) -> None:
        """Sync and close; a second call does nothing.

        Raises:
            RecordError: the disk failed; the file is closed all the same.
        """
        if self._fd is None:
            return
        try:
            if self._failure is None:
                self.sync()
        finally:
            # what is on the disk is safe, whatever closing says
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = None

    def _open_fd(self) -> int:
        if self._failure is not None or self._fd is None:
            raise self._failure or RecordError(f"{self.path}: closed already")
        return self._fd

    def _truncate(self, fd: int) -> str:
        try:
            os.ftruncate(fd, self._size)
        except OSError:
            return "; its last line may be cut off"
        return ""

    def _fail(self, reason: str) -> RecordError:
        self._failure = RecordError(f"{self.path}: {reason}")
        return self._failure


def _sync(fd: int) -> None:
    # macOS has no fdatasync
    getattr(os, "fdatasync", os.fsync)(fd)


def _open_behind(path: Path, lines: int) -> tuple[int, int]:
    """Open an existing file, cut it off behind its first `lines` lines, and return its descriptor and size."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except OSError as error:
        raise RecordError(f"{path}: cannot be continued: {reason_of(error)}") from None
    try:
        size = _size_of(fd, lines)
        if os.fstat(fd).st_size != size:
            os.ftruncate(fd, size)
    except (OSError, RecordError) as error:
        os.close(fd)
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        raise RecordError(f"{path}: cannot be continued: {reason}") from None
    return fd, size


def _size_of(fd: int, lines: int) -> int:
    """Return how many bytes the first `lines` lines take; raises RecordError if there are not as many."""
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise RecordError("that is no ordinary file")
    size = 0
    with open(fd, "rb", closefd=False) as file:
        for whole in range(lines):
            line = file.readline()
            if not line.endswith(b"\n"):
                raise RecordError(f"it has {counted(whole, 'whole line')}, not {lines}")
            size += len(line)
    return size


def prepare_folder(folder: Path) -> None:
    """Create a folder if need be, and see that files can be written in it.

    Raises:
        RecordError: one line that names the folder and the reason.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"records")
    except OSError as error:
        raise RecordError(f"{folder}: records cannot be kept there: {reason_of(error, folder=True)}") from None
