"""Locks on files and folders, for one process at a time: they end with the process that has them, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from wolfbus.errors import WolfError


def lock(path: Path) -> int | None:
    """Lock a folder, or a file, which is made if need be.

    Returns:
        The descriptor that has the lock until it is closed, or this process is gone; None where another has the lock.

    Raises:
        OSError: it cannot be opened, or its file system has no locks.
    """
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Return whether a process has a lock on a file; False where that cannot be told."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            # shared, so that two who ask at once do not take each other for the one that has it
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


@contextlib.contextmanager
def alone(path: Path, refusal: WolfError, wait_s: float = 0.0) -> Iterator[None]:
    """Lock a file or folder during the block; where there can be no lock, nobody is kept out.

    Args:
        path: see `lock`.
        refusal: raised where another process has it.
        wait_s: seconds for which that one may still be on its way out.
    """
    until, descriptor = time.monotonic() + wait_s, None
    with contextlib.suppress(OSError):
        while (descriptor := lock(path)) is None:
            if time.monotonic() >= until:
                raise refusal
            time.sleep(0.05)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
