"""`KnownSteps`: how many steps a server has confirmed to this process; one that knows of fewer has gone backwards."""

from __future__ import annotations

import threading


class KnownSteps:
    """Counts by house and owner epoch. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, int]] = {}

    def of(self, house: str, epoch: int) -> int:
        """Return how many steps of this epoch are known to have landed, from whomever."""
        with self._lock:
            newest, steps = self._known.get(house, (0, 0))
            return steps if newest == epoch else 0

    def note(self, house: str, epoch: int, steps: int) -> None:
        """Take note that the server knows of so many; those of an older epoch are of no interest any more."""
        with self._lock:
            self._known[house] = max(self._known.get(house, (0, 0)), (epoch, steps))
