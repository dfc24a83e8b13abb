"""`Landing`: files that appear whole and all together, or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from wolfbus.errors import ConfigError

_BUFFER: Final = 1 << 18


class Landing:
    """Files that are written under hidden names beside their own, and take these when all of them are done.

    Used as a context manager: where its block ends well the files land, where it is left by an exception they vanish.

    Args:
        folder: where the files go; created if need be.
        names: their names.
        force: whether files that are there already are replaced.

    Raises:
        ConfigError: one of the files is there already, or the folder is none. Nothing was touched.
        OSError: the folder or a file cannot be written; it names the folder.
    """

    def __init__(self, folder: Path, names: Iterable[str], *, force: bool = False) -> None:
        self._folder = folder
        self._names = tuple(names)
        self._force = force
        self._files: dict[str, IO[bytes]] = {}
        self._refuse()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ConfigError(f"{folder}: that is no folder") from None

    def path(self, name: str) -> Path:
        """Return the hidden path under which a file is written."""
        return self._folder / f".{name}.{os.getpid()}.partial"

    def file(self, name: str) -> IO[bytes]:
        """Return a file, open for writing bytes; `close` on it is left to the landing."""
        if name not in self._files:
            self._files[name] = self.path(name).open("wb", buffering=_BUFFER)
        return self._files[name]

    def digest(self, name: str) -> str:
        """Return the SHA-256 of what was written to a file so far, in hex."""
        self.file(name).flush()
        with self.path(name).open("rb") as written:
            return hashlib.file_digest(written, "sha256").hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._land()
        except OSError as failure:
            raise _placed(failure, self._folder) from None
        finally:
            self._clear()
        if isinstance(error, OSError) and not error.filename:
            raise _placed(error, self._folder) from None

    def _land(self) -> None:
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        self._refuse()
        for name in self._names:
            self.path(name).replace(self._folder / name)

    def _refuse(self) -> None:
        there = [name for name in self._names if os.path.lexists(self._folder / name)]
        if there and not self._force:
            raise ConfigError(f"{self._folder / there[0]}: exists already; `wolfbus export --force` replaces it")

    def _clear(self) -> None:
        for file in self._files.values():
            # on a full disk what is left in the buffer is of no use, and the file is closed all the same
            with suppress(OSError):
                file.close()
        for name in self._names:
            self.path(name).unlink(missing_ok=True)


def _placed(error: OSError, folder: Path) -> OSError:
    """Return an error that names the folder, as one of a file that is only open does not."""
    return OSError(error.errno or 0, error.strerror or str(error), str(folder))
