"""`CassetteWriter`: one file of a cassette, of which whole lines stay whatever happens to the process or the disk."""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from wolfbus.errors import CassetteError, reason_of


class CassetteWriter:
    """The file that this process records into; every line goes to the system at once.

    Args:
        folder: where it is created, under a name of its own.
        header: its first line.

    Raises:
        CassetteError: it cannot be created.
    """

    def __init__(self, folder: Path, header: bytes) -> None:
        now = datetime.now(UTC)
        self.path = folder / f"{now:%Y%m%dT%H%M%S.%f}Z-{secrets.token_hex(4)}.ndjson"
        self._size = 0
        self._entries = 0
        self._torn = False
        try:
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CassetteError(f"cassette {self.path}: cannot be created: {reason_of(error)}") from None
        try:
            self._append(header)
        except CassetteError:
            os.close(self._fd)
            self.path.unlink(missing_ok=True)
            raise

    def write(self, line: bytes, label: str) -> None:
        """Append a line, all of it or nothing.

        Args:
            line: with its line end.
            label: names the call where something is wrong.

        Raises:
            CassetteError: it cannot be written.
        """
        if self._torn:
            raise CassetteError(f"cassette {self.path}: an earlier line is cut off, so no other can follow")
        try:
            self._append(line)
        except CassetteError as error:
            raise CassetteError(f"{error} (at {label}); what was recorded before is whole") from None
        self._entries += 1

    def close(self) -> None:
        """Bring all lines to the disk and close the file; without a line but the header, it goes.

        Raises:
            CassetteError: the disk failed; the file is closed all the same.
        """
        try:
            try:
                if self._entries:
                    os.fsync(self._fd)
                else:
                    self.path.unlink(missing_ok=True)
            finally:
                os.close(self._fd)
        except OSError as error:
            raise CassetteError(f"cassette {self.path}: cannot be brought to the disk: {reason_of(error)}") from None

    def _append(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            self._take_back()
            raise CassetteError(f"cassette {self.path}: cannot be written: {reason_of(error)}") from None
        self._size += len(line)

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            self._torn = True
