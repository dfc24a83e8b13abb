"""`Impatience`: a bus that does not let go may not hold up the end of a term for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from wolfbus.bus.protocol import Bus

LAST_S: Final = 5.0
"""How long the end of a term may take before the bus is given up, in seconds."""

_GLANCE_S: Final = 0.1


class Impatience:
    """Closes a bus some seconds after a term should have ended, on a thread of its own.

    Args:
        bus: the bus.
        is_ending: tells whether the term should end.
    """

    def __init__(self, bus: Bus, is_ending: Callable[[], bool]) -> None:
        self._bus = bus
        self._is_ending = is_ending
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, name="impatience", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take note that the term has ended."""
        self._ended.set()
        self._thread.join()

    def _wait(self) -> None:
        until: float | None = None
        while not self._ended.wait(_GLANCE_S):
            if self._is_ending():
                until = until or time.monotonic() + LAST_S
                if time.monotonic() >= until:
                    self._bus.close()
                    return
