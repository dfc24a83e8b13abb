"""Files as a whole: `write_whole` leaves the old one or the new one, whatever happens while it is written.

Of those that a user names, `write_named` follows links and writes into pipes and devices, so that nothing is put in
their place; `read_whole` takes one in, and `open_file` opens it: both refuse what has no end.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TextIO

from wolfbus.errors import ConfigError, reason_of
from wolfbus.files.printable import printable

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
        path: the file; what is there is replaced, a link itself and not what it leads to: the folder may be somebody
            else's. One that a user names is for `write_named`.
        pieces: its bytes; text is written as UTF-8, with line ends as they are.
        mode: who may read and write it, less the umask.

    Raises:
        OSError: it cannot be written; the error names the file, and the old one is as it was.
    """
    # not by the process's number: two containers that share a folder have the same ones
    fresh = path.with_name(f".{path.name[:_NAME_SHOWN]}.{secrets.token_hex(8)}.new")
    try:
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            with os.fdopen(descriptor, "wb") as file:
                with contextlib.suppress(OSError):
                    # so that nobody takes it for what a process that was killed has left
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
                file.flush()
                os.fsync(file.fileno())
                fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(path)) from None


def write_named(path: Path, pieces: Iterable[str | bytes], *, mode: int = EVERYBODY) -> None:
    """Write what a user names: a file as `write_whole` does, behind its links, which stay; into a pipe or a device.

    Args:
        path: where to; where that is this process's own stdout or stderr, into that.
        pieces: as there.
        mode: as there; of a file.

    Raises:
        OSError: it cannot be written; the error names it as the user did.
    """
    try:
        stream = _open_stream(path)
        if stream is None:
            write_whole(Path(os.path.realpath(path)), pieces, mode=mode)
        else:
            with os.fdopen(stream, "wb") as file:
                file.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(path)) from None


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it, however much the system takes at once; raises OSError."""
    unwritten = memoryview(content)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten) :]


def _open_stream(path: Path) -> int | None:
    """Return a descriptor that writes into what is no file; None for a file, or nothing, which is to be one."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    for printed in (sys.stdout, sys.stderr):
        # a file that the shell has opened for this process, too: what else it prints goes there
        if _is_open_as(status, printed):
            printed.flush()
            return os.dup(printed.fileno())
    if stat.S_ISREG(status.st_mode):
        return None
    return os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)


def _is_open_as(status: os.stat_result, stream: TextIO) -> bool:
    try:
        return os.path.samestat(status, os.fstat(stream.fileno()))
    except (OSError, AttributeError):
        # a stream in memory, or none
        return False


def is_stdout(path: Path) -> bool:
    """Return whether what is written there stands among what this process prints on stdout."""
    try:
        return _is_open_as(path.stat(), sys.stdout)
    except OSError:
        return False


def check_writable(path: Path) -> None:
    """Refuse at once what `write_named` could not write after minutes of work.

    Raises:
        ConfigError: it is a folder, there is none for it, or the user may not write it; the line names it.
    """
    text = printable(str(path), _PATH_SHOWN)
    if path.is_dir():
        raise ConfigError(f"{text}: is a folder")
    if path.exists() and not path.is_file():
        if not os.access(path, os.W_OK):
            raise ConfigError(f"{text}: cannot be written to")
        return
    folder = Path(os.path.realpath(path)).parent
    named = printable(str(folder if path.is_symlink() else path.parent), _PATH_SHOWN)
    if not folder.is_dir():
        raise ConfigError(f"{text}: no such folder {named}")
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{text}: the folder cannot be written to")


def open_file(path: str | Path) -> io.FileIO:
    """Open a file that a user names, for reading bytes.

    Args:
        path: the file. Pipes and devices are none: who opens a pipe waits for a writer, and a device may have no end.

    Raises:
        OSError: it cannot be opened, or is no file; the error says so.
    """
    try:
        file = io.FileIO(str(path), opener=_without_waiting)
    except ValueError as error:
        # a name may hold a character that no file's can
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(mode):
        return file
    file.close()
    kind = "a pipe; save what comes out of it in a file" if stat.S_ISFIFO(mode) else "a device"
    raise OSError(errno.EINVAL, f"not a file but {kind}", str(path))


def read_whole(path: Path, longest: int) -> bytes:
    """Return the content of a file that a user names.

    Args:
        path: the file; see `open_file`.
        longest: bytes that such a file has at most.

    Raises:
        ConfigError: it cannot be read, is no file, or is longer; the line names it and the reason.
    """
    source = printable(str(path), _PATH_SHOWN)
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            content = bytearray()
            # some have no size to tell, and some grow
            while size <= longest and (piece := file.read(_PIECE)):
                content += piece
                if len(content) > longest:
                    break
            if max(size, len(content)) > longest:
                raise ConfigError(f"{source}: too large: more than {_size(longest)}")
    except OSError as error:
        raise ConfigError(f"{source}: {reason_of(error)}") from None
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
