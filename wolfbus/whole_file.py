"""Files as a whole: `write_whole` leaves the old one or the new one, whatever happens while it is written; `read_whole`
takes in one that a user names, and refuses what has no end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from wolfbus.errors import ConfigError
from wolfbus.printable import printable

EVERYBODY: Final = 0o666
"""Whoever the user's umask lets read."""
OWNER: Final = 0o600
"""Only the owner."""

_NAME_SHOWN: Final = 40
_PATH_SHOWN: Final = 400
_PIECE: Final = 1 << 20
"""Bytes asked for at once."""


def write_whole(path: Path, pieces: Iterable[str | bytes], *, mode: int = EVERYBODY) -> None:
    """Write a file under a hidden name beside it, see it on the disk, and give it its name.

    Args:
        path: the file; replaced if it is there.
        pieces: its bytes; text is written as UTF-8, with line ends as they are.
        mode: who may read and write it, less the umask.

    Raises:
        OSError: it cannot be written; the error names the file, and the old one is as it was.
    """
    fresh = path.with_name(f".{path.name[:_NAME_SHOWN]}.{os.getpid()}.new")
    try:
        # left by a process of the same number that was killed
        fresh.unlink(missing_ok=True)
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(path)) from None


def read_whole(path: Path, longest: int) -> bytes:
    """Return the content of a file that a user names.

    Args:
        path: the file. Pipes and devices are none: who opens a pipe waits for a writer, and a device may have no end.
        longest: bytes that such a file has at most.

    Raises:
        ConfigError: it cannot be read, is no file, or is longer; the line names it and the reason.
    """
    source = printable(str(path), _PATH_SHOWN)
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                kind = "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device"
                raise ConfigError(f"{source}: not a file but {kind}")
            content = bytearray()
            # some have no size to tell, and some grow
            while status.st_size <= longest and (piece := file.read(_PIECE)):
                content += piece
                if len(content) > longest:
                    break
            if max(status.st_size, len(content)) > longest:
                raise ConfigError(f"{source}: too large: more than {_size(longest)}")
    except (OSError, ValueError) as error:
        # a name may hold a character that no file's can
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{source}: {(reason or str(error)).lower()}") from None
    return bytes(content)


def read_text_whole(path: Path, longest: int) -> str:
    """Return the text of a file that a user names, as `read_whole` does.

    Raises:
        ConfigError: as there, or it is not UTF-8.
    """
    try:
        return read_whole(path, longest).decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{printable(str(path), _PATH_SHOWN)}: not UTF-8 text") from None


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _without_waiting(path: str, flags: int) -> int:
    # what it is can be told only once it is open
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
