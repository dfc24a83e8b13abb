"""Which signals ask a process to end, beside Ctrl-C; and how they wait for what must not be left half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self


def end_signals() -> tuple[signal.Signals, ...]:
    """Return SIGTERM, and SIGHUP, which a terminal sends that closes; unless that is ignored, as under nohup."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM,) if is_ignored else (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """SIGTERM, or the terminal that was closed: nobody waits for a game."""


class Interrupts:
    """Ctrl-C and the end signals, as long as this is open as a context: the latter raise `Terminated` where the command
    line made them an interrupt as Ctrl-C is one, and all of them can be held back.

    Handlers are set once, and not anew whenever something begins that must not be interrupted: a signal that came while
    they were changed would leave one of them behind, by which nothing more was heard. What is ignored stays ignored; in
    a thread other than the main one no handler can be set.
    """

    def __init__(self) -> None:
        self._is_held = False
        self._held_back: list[int] = []
        self._before: dict[int, Callable[[int, Any], object]] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *end_signals()):
                if callable(before := signal.getsignal(number)):
                    self._before[number] = before
                    signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @contextlib.contextmanager
    def held_back(self) -> Iterator[None]:
        """Hold signals back until this is left; the first that came does then what it does at any time."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._held_back:
            self._handle(self._held_back[0])

    def _handle(self, number: int, frame: Any = None) -> None:
        if self._is_held:
            self._held_back.append(number)
            return
        self._held_back.clear()
        before = self._before[number]
        if number != signal.SIGINT and before is signal.default_int_handler:
            raise Terminated
        before(number, frame)
