"""What is said of a bus that is away and waited for, by whoever has no reason to give up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from wolfbus.errors import BusDown, BusError, BusFull

if TYPE_CHECKING:
    from wolfbus.service.lifecycle import Stopping

T = TypeVar("T")

AWAY: Final = (BusDown, BusFull)
"""What a bus says that may serve again later: it is out of reach, cannot save, or has no memory left."""

_EVERY_S: Final = 30.0
"""Longest time that somebody waits without a word."""
PAUSE_S: Final = 0.5
"""Seconds between two looks whether a bus is back."""


class OutageNotice:
    """Says that a bus is away, at once and then now and then, and once that it is back.

    Args:
        say: called with one line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._since: float | None = None
        self._next = 0.0

    def away(self, error: BusError) -> None:
        """Note that it does not serve now."""
        now = time.monotonic()
        if self._since is None:
            self._since = self._next = now
        if now >= self._next:
            self._next = now + _EVERY_S
            waited = f" (for {now - self._since:.0f} s now)" if now > self._since else ""
            self._say(f"{error}; waiting for it{waited}, as long as it takes")

    def back(self) -> None:
        """Note that it serves."""
        if self._since is not None:
            self._say(f"it is back after {time.monotonic() - self._since:.0f} s")
            self._since = None

    def wait_for(self, ask: Callable[[], T], stopping: Stopping) -> T | None:
        """Return what the bus answers, once it serves; None if somebody asked to stop before that.

        Args:
            ask: asks it; may be repeated.
            stopping: ends the wait.
        """
        while not stopping.requested:
            try:
                answer = ask()
            except AWAY as error:
                self.away(error)
                stopping.wait(PAUSE_S)
            else:
                self.back()
                return answer
        return None
