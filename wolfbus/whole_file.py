"""`write_whole`: a file that a reader finds whole, the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

EVERYBODY: Final = 0o666
"""Whoever the user's umask lets read."""
OWNER: Final = 0o600
"""Only the owner."""

_NAME_SHOWN: Final = 40


def write_whole(path: Path, pieces: Iterable[str], *, mode: int = EVERYBODY) -> None:
    """Write a file's text under a hidden name beside it, see it on the disk, and give it its name.

    Args:
        path: the file; replaced if it is there.
        pieces: its text, UTF-8 with line ends as they are.
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
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(path)) from None
