"""Timers: callbacks after a duration, on one thread, by the monotonic clock."""

from __future__ import annotations

import heapq
import logging
import math
import threading
import time
from collections.abc import Callable
from itertools import count

from pykka import ActorDeadError

from wolfbus.actors.closable import Closable

logger = logging.getLogger(__name__)

SWEEP_FROM = 64
"""Cancelled timers that may lie in the heap before they are worth sweeping out."""


class Timer:
    """One callback that is still to come. Made by `Timers.after`."""

    __slots__ = ("_timers", "callback")

    def __init__(self, timers: Timers, callback: Callable[[], object]) -> None:
        self._timers = timers
        self.callback: Callable[[], object] | None = callback
        """What is still to be called; None once it has started or was cancelled."""

    def cancel(self) -> bool:
        """Make sure the callback does not start from here on. May be called from any thread, any number of times.

        Returns:
            True if this call prevented it; False if it has started, was cancelled before, or the timers are closed.
        """
        return self._timers.cancel(self)

    @property
    def pending(self) -> bool:
        """Whether the callback is still to come."""
        return self.callback is not None


class Timers(Closable):
    """A heap of timers and the thread that fires them.

    Timers fire in the order of their due times, those due together in the order they were set. The thread starts with
    the first timer. It is a daemon: timers that nobody closed do not keep a program alive.

    Used as a context manager, timers close at the end of the block.

    Args:
        name: the thread's name.
    """

    def __init__(self, name: str = "timers") -> None:
        self.name = name
        self._heap: list[tuple[float, int, Timer]] = []
        self._cancelled = 0
        self._closed = False
        self._numbers = count()
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition(threading.Lock())

    @property
    def pending(self) -> int:
        """How many timers are still to fire."""
        with self._changed:
            return len(self._heap) - self._cancelled

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call back once, on the timers' thread, after a duration.

        Args:
            seconds: how long from now, by the monotonic clock; 0 or less means at once.
            callback: called without arguments. All timers wait while it runs, so it should do no more than tell an
                actor. What it raises is logged; ``ActorDeadError``, the usual fate of a late deadline, at debug level.

        Raises:
            ValueError: if the duration is not a finite number.
            RuntimeError: if the timers are closed, or their thread cannot be started.
        """
        if not math.isfinite(seconds):
            raise ValueError(f"a timer needs a finite number of seconds, not {seconds}")
        timer = Timer(self, callback)
        entry = (time.monotonic() + seconds, next(self._numbers), timer)
        with self._changed:
            if self._closed:
                raise RuntimeError(f"the timers {self.name} are closed")
            if self._thread is None:
                thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                thread.start()
                self._thread = thread
            heapq.heappush(self._heap, entry)
            if self._heap[0] is entry:
                self._changed.notify()
        return timer

    def close(self) -> None:
        """Drop the timers that have not fired, and return when the thread has ended.

        A callback that is running is waited for, unless it is the one that closes. Closing again does nothing.
        """
        with self._changed:
            self._closed = True
            for _, _, timer in self._heap:
                timer.callback = None
            self._heap.clear()
            self._cancelled = 0
            self._changed.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def cancel(self, timer: Timer) -> bool:
        """Cancel a timer of these; the same as `Timer.cancel`."""
        with self._changed:
            if timer.callback is None:
                return False
            timer.callback = None
            self._cancelled += 1
            if self._cancelled > SWEEP_FROM and self._cancelled * 2 > len(self._heap):
                # Each sweep is paid for by as many cancels as it removes, so cancelling stays constant time on average.
                self._heap = [entry for entry in self._heap if entry[2].pending]
                heapq.heapify(self._heap)
                self._cancelled = 0
            return True

    def _run(self) -> None:
        while (callback := self._next()) is not None:
            try:
                callback()
            except ActorDeadError as error:
                logger.debug("A timer came too late: %s", error)
            except BaseException:
                logger.exception("Unhandled exception in a timer's callback:")
            del callback  # a waiting thread must not keep alive what the callback refers to

    def _next(self) -> Callable[[], object] | None:
        """Wait for the next callback that is due; None when the timers are closed."""
        with self._changed:
            while not self._closed:
                if not self._heap:
                    self._changed.wait()
                    continue
                wait = self._heap[0][0] - time.monotonic()
                if self._heap[0][2].pending and wait > 0:
                    self._changed.wait(min(wait, threading.TIMEOUT_MAX))
                    continue
                timer = heapq.heappop(self._heap)[2]
                callback, timer.callback = timer.callback, None
                if callback is not None:
                    return callback
                self._cancelled -= 1
            return None
