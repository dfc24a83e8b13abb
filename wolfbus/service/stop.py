"""A graceful stop: signals become a question that the service's own loop answers in its own time."""

from __future__ import annotations

import queue
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_SLICE_S: Final = 1.0


class Stopping:
    """Whether this process was asked to stop. As a context it hears SIGTERM and SIGINT, and restores their handlers.

    A process of the command line ignores SIGTERM afterwards: it is about to end, with an exit code that stands.

    In a thread other than the main one no handler can be set; `ask` works there all the same. A SIGINT after the first
    question raises KeyboardInterrupt: somebody does not want to wait.

    Attributes:
        asked: whether anybody asked.
        why: who asked first, such as ``SIGTERM``; "" while nobody has.
    """

    def __init__(self) -> None:
        self.asked = False
        self.why = ""
        # An Event's lock is not re-entrant: a handler that sets it may run while this very thread holds it.
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._before: dict[signal.Signals, Any] = {}

    def ask(self, why: str) -> None:
        """Ask to stop; safe in any thread and in a signal handler. Only the first reason is kept."""
        if not self.asked:
            self.why = why
            self.asked = True
        self._wake.put(None)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until somebody asks.

        Args:
            timeout_s: seconds to wait at most, >= 0; None for ever.

        Returns:
            Whether somebody has asked.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.asked:
            left = _SLICE_S if until is None else until - time.monotonic()
            try:
                # no platform's wait is uninterruptible for longer than a slice
                self._wake.get(timeout=min(max(left, 0.0), _SLICE_S))
            except queue.Empty:
                if until is not None and time.monotonic() >= until:
                    return self.asked
            else:
                self._wake.put(None)  # for whoever else waits
        return True

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            if number == signal.SIGTERM and handler is signal.default_int_handler:
                # The command line made it an interrupt. There is nothing left to interrupt, but Python takes a tenth of
                # a second to end, and a SIGTERM meanwhile would put its own exit code in place of the outcome's.
                signal.signal(number, signal.SIG_IGN)
                continue
            # None stands for a handler that was not set from Python, and cannot be set from it
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before = {}

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        impatient = self.asked and number == signal.SIGINT
        self.ask(signal.Signals(number).name)
        if impatient:
            raise KeyboardInterrupt
