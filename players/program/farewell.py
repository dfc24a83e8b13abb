"""Children on their way out: seen off in the background, and none left behind when this process ends."""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
from typing import Final

from players.program.process import MOMENT, ChildProcess

_LAST: Final = 3 * MOMENT
_living: set[ChildProcess] = set()
_leaving: set[threading.Thread] = set()


def expect(process: ChildProcess) -> None:
    """Take note of a child that must not outlive this process."""
    _living.add(process)


def see_off(process: ChildProcess, bye: bytes | None = None, talk: threading.Lock | None = None) -> None:
    """End a child in the background, and return at once.

    Args:
        process: the child.
        bye: a last line for it.
        talk: held by whoever talks to the child; waited for.
    """

    def run() -> None:
        with talk or contextlib.nullcontext():
            process.leave(bye)
        _living.discard(process)
        _leaving.discard(threading.current_thread())

    thread = threading.Thread(target=run, name=f"farewell-{process.pid}", daemon=True)
    _leaving.add(thread)
    try:
        thread.start()
    except RuntimeError:
        # the interpreter is shutting down and starts no more threads
        _leaving.discard(thread)
        process.kill()


@atexit.register
def end_all() -> None:
    """Wait for those that are leaving, and end those that nobody sent away: called as this process ends."""
    until = time.monotonic() + _LAST
    for thread in tuple(_leaving):
        thread.join(max(0.0, until - time.monotonic()))
    for process in tuple(_living):
        process.kill()
